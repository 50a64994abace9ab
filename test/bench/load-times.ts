import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";

/*
 * Measures the load time of each function in a new process. Compares it with its floor, a handler that imports the
 * same AWS clients only, and with a bare handler that imports nothing.
 */

const ROUNDS = 20;
/** The option of the deployed functions. */
const SOURCE_MAPS = "--enable-source-maps";

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const loadOnce = pathOf("./load-once.mjs");

const timesSchema = z.object({ sinceStartMs: z.number(), importMs: z.number() });

interface Subject {
  readonly name: string;
  readonly file: string;
  readonly nodeOptions: string;
  readonly sinceStartMs: number[];
  readonly importMs: number[];
}

const subjectOf = (name: string, folder: string, nodeOptions = SOURCE_MAPS): Subject => ({
  name,
  file: pathOf(`./handlers/${folder}/handler.mjs`),
  nodeOptions,
  sinceStartMs: [],
  importMs: [],
});

const load = async ({ file, nodeOptions }: Subject) => {
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  const { stdout } = await run(process.execPath, [loadOnce, file], { env });
  return timesSchema.parse(JSON.parse(stdout));
};

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [below = Number.NaN, above = Number.NaN] = sorted.slice(middle - 1, middle + 1);
  return (below + above) / 2;
};

/** Median ratio to the floor of the same round. Other load of the machine affects both in a round equally. */
const ratio = (values: readonly number[], floor: readonly number[]): string =>
  median(values.map((value, round) => value / (floor[round] ?? Number.NaN))).toFixed(2);

const print = (...columns: readonly (string | number)[]): void => {
  const [name = "", ...numbers] = columns.map((column) =>
    typeof column === "number" ? String(Math.round(column)) : column,
  );
  const line = `  ${name.padEnd(18)}${numbers.map((number) => number.padStart(11)).join("")}`;
  process.stdout.write(`${line.trimEnd()}\n`);
};

const bare = subjectOf("bare", "bare");
const functions = readdirSync(pathOf("./handlers/functions")).map((name) => ({
  name,
  real: subjectOf(name, `functions/${name}`),
  floor: subjectOf(name, `floors/${name}`),
  unmapped: subjectOf(name, `functions/${name}`, ""),
}));
const subjects = [
  bare,
  ...functions.flatMap(({ real, floor, unmapped }) => [real, floor, unmapped]),
];

// A first run fills the cache of the file system.
for (const subject of subjects) await load(subject);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const subject of subjects) {
    const { sinceStartMs, importMs } = await load(subject);
    subject.sinceStartMs.push(sinceStartMs);
    subject.importMs.push(importMs);
  }
}

process.stdout.write(
  `ms from the start of a process until the handler is imported, median of ${ROUNDS}, Node ${process.version}:\n`,
);
print("", "all", "its floor", "of floor", "of bare", "import", "its floor", "of floor", "no maps");
print(bare.name, median(bare.sinceStartMs), "", "", "", median(bare.importMs));
for (const { name, real, floor, unmapped } of functions) {
  print(
    name,
    median(real.sinceStartMs),
    median(floor.sinceStartMs),
    ratio(real.sinceStartMs, floor.sinceStartMs),
    ratio(real.sinceStartMs, bare.sinceStartMs),
    median(real.importMs),
    median(floor.importMs),
    ratio(real.importMs, floor.importMs),
    median(unmapped.sinceStartMs),
  );
}
