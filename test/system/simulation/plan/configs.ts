import type { Chance } from "../engine/chance.ts";
import { LARGE_NUMBERS } from "./requests.ts";

/** The storage with thresholds from the config; commands use another one. */
export const CONFIG_STORAGE = "t";

/** One threshold, as in the config and at the provider. */
export interface Wanted {
  readonly bucket_name: string;
  readonly bytes: string;
}

/** A version of the thresholds config. */
export interface ConfigVersion {
  readonly id: string;
  readonly number: number;
  /** When it is written, ms after the start. */
  readonly afterMs: number;
  readonly text: string;
  /** Wanted thresholds; undefined when the version is invalid. */
  readonly wanted: readonly Wanted[] | undefined;
  /** Whether it has `prune: true`. */
  readonly isPruning: boolean;
}

const BUCKETS = ["b1", "b2", "b3"];
const WRITING_MS = 4 * 60_000;

const wantedBy = (chance: Chance, number: number): readonly Wanted[] =>
  BUCKETS.filter((bucket) => chance.happens(`wanted ${number} ${bucket}`, 0.6)).map((bucket) => ({
    bucket_name: bucket,
    bytes: chance.pick(`limit ${number} ${bucket}`, LARGE_NUMBERS),
  }));

/** JSON is YAML too. Numbers are written in full, beyond the precision of JavaScript. */
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

/**
 * Config versions of a run; most runs have none, because pruning conflicts with commands on storage
 * events.
 */
export const configsOf = (
  chance: Chance,
  isPossible: boolean,
  isLikely: boolean,
): readonly ConfigVersion[] => {
  if (!isPossible || chance.happens("no config", isLikely ? 0 : 0.5)) return [];
  // A client that corrects itself at once replaces a version while a sync applies it.
  const isHasty = chance.happens("hasty config", 0.3);
  const count = chance.between("configs", isHasty ? 3 : 1, isHasty ? 6 : 4);
  const drafts = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const isInvalid = chance.happens(`invalid ${number}`, 0.25);
    const wanted = isInvalid ? undefined : wantedBy(chance, number);
    const isPruning = chance.happens(`prune ${number}`, 0.75);
    return {
      afterMs:
        isHasty && index % 3 > 0
          ? chance.between(`written ${number - (index % 3)}`, 0, WRITING_MS) +
            chance.between(`corrected ${number}`, 20, 1_000)
          : chance.between(`written ${number}`, 0, WRITING_MS),
      text: wanted ? textOf(wanted, isPruning) : chance.pick(`mistake ${number}`, INVALID),
      wanted,
      isPruning,
    };
  });
  // Numbered in the order of writing, as S3's sequencers are.
  return drafts
    .sort((a, b) => a.afterMs - b.afterMs)
    .map((draft, index) => ({ ...draft, id: `v${index + 1}`, number: index + 1 }));
};
