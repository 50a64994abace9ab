import type { Chance } from "../engine/chance.ts";
import { LARGE_NUMBERS } from "./requests.ts";

/** The storage whose thresholds come from the config; commands have another. */
export const CONFIG_STORAGE = "t";

/** One threshold as the config wants it and the provider keeps it. */
export interface Wanted {
  readonly bucket_name: string;
  readonly bytes: string;
}

/** A version of the thresholds config, as somebody writes it. */
export interface ConfigVersion {
  readonly id: string;
  readonly number: number;
  /** After the beginning. */
  readonly afterMs: number;
  readonly text: string;
  /** What it asks for; undefined: it is invalid. */
  readonly wanted: readonly Wanted[] | undefined;
  /** Whether nothing else may be there. */
  readonly isPruning: boolean;
}

const BUCKETS = ["b1", "b2", "b3"];
const WRITING_MS = 4 * 60_000;

const wantedBy = (chance: Chance, number: number): readonly Wanted[] =>
  BUCKETS.filter((bucket) => chance.happens(`wanted ${number} ${bucket}`, 0.6)).map((bucket) => ({
    bucket_name: bucket,
    bytes: chance.pick(`limit ${number} ${bucket}`, LARGE_NUMBERS),
  }));

/** JSON is YAML too; numbers stand in it as they are, whatever JSON's own could hold. */
const textOf = (wanted: readonly Wanted[], isPruning: boolean): string => {
  const thresholds = wanted.map(
    ({ bucket_name, bytes }) =>
      `{name: reaching_used_space, storage_name: ${CONFIG_STORAGE}, bucket_name: ${bucket_name}, bytes: ${bytes}}`,
  );
  return `prune: ${isPruning}\nthresholds: [${thresholds.join(", ")}]\n`;
};

const INVALID = [
  "prune: true\nthresholds: [{name: nothing_known}]\n",
  "prune: true\nthresholds: [",
  "prune: true\n",
];

/** What is written in a run; none in most, as pruning does not go well with commands on events. */
export const configsOf = (chance: Chance, isPossible: boolean): readonly ConfigVersion[] => {
  if (!isPossible || chance.happens("no config", 0.5)) return [];
  const versions = Array.from({ length: chance.between("configs", 1, 4) }, (_, index) => {
    const number = index + 1;
    const isInvalid = chance.happens(`invalid ${number}`, 0.25);
    const wanted = isInvalid ? undefined : wantedBy(chance, number);
    const isPruning = chance.happens(`prune ${number}`, 0.75);
    return {
      id: `v${number}`,
      number,
      afterMs: chance.between(`written ${number}`, 0, WRITING_MS),
      text: wanted ? textOf(wanted, isPruning) : chance.pick(`mistake ${number}`, INVALID),
      wanted,
      isPruning,
    };
  });
  return versions.sort((a, b) => a.afterMs - b.afterMs);
};
