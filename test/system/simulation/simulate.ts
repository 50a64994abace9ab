import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { metText, totalsText } from "./report.ts";
import type { JobResult } from "./worker.ts";

/*
 * Runs many seeds on all cores, fresh ones by default. Exits with status 1 when an invariant was
 * violated, and prints the seed and the shortest history of each violation. `--met` prints the
 * coverage: in how many runs each kind of fault struck at each call, and how commands ended.
 */

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
/** Upper bound of a random first seed. */
const MAX_SEED = 2 ** 31;
/** More violations seldom add information, and shortening each takes up to a minute. */
const MAX_VIOLATIONS = 5;
const PROGRESS_EVERY = 1_000;
/** A process keeps up to a megabyte of each run, so another one takes its place after so many. */
const SEEDS_OF_WORKER = 1_000;

const refuse = (problem: string): never => {
  process.stderr.write(
    `${problem}\nusage: npm run simulate -- [--seeds N] [--from N] [--seed N] [--met]\n`,
  );
  process.exit(2);
};

const readOptions = () => {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: "string", default: "1000" },
        from: { type: "string", default: String(randomInt(MAX_SEED)) },
        seed: { type: "string" },
        met: { type: "boolean", default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
};

const wholeNumber = (option: string, text: string): number => {
  const value = Number(text);
  const isOne = text !== "" && Number.isSafeInteger(value) && value >= 0;
  return isOne ? value : refuse(`--${option} must be a whole number from 0, not "${text}"`);
};

const values = readOptions();
const { seed } = values;
const count = seed === undefined ? wholeNumber("seeds", values.seeds) : 1;
const first = seed === undefined ? wholeNumber("from", values.from) : wholeNumber("seed", seed);

const startedAt = performance.now();
const totals = {
  seeds: 0,
  violated: 0,
  virtualMs: 0,
  crowded: { seeds: 0, cpuMs: 0 },
  others: { seeds: 0, cpuMs: 0 },
};
let next = 0;

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Number of runs by coverage name. */
const met = new Map<string, number>();

const note = ({ virtualMs, text, ...result }: JobResult): void => {
  const kind = result.isCrowded ? totals.crowded : totals.others;
  kind.seeds += 1;
  kind.cpuMs += result.cpuMs;
  totals.seeds += 1;
  totals.virtualMs += virtualMs;
  for (const name of result.met) met.set(name, (met.get(name) ?? 0) + 1);
  if (text !== undefined) {
    totals.violated += 1;
    print(text);
  }
  if (totals.seeds % PROGRESS_EVERY === 0) print(`${totals.seeds} of ${count} seeds`);
};

const isOver = (): boolean => next >= count || totals.violated >= MAX_VIOLATIONS;

/** Sends one seed after another to a worker process, until none is left or the process has had enough. */
const runWorker = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = fork(WORKER, { execArgv: ["--enable-source-maps"] });
    let given = 0;
    const give = (): void => {
      if (isOver() || given === SEEDS_OF_WORKER) {
        worker.kill();
        resolve();
        return;
      }
      worker.send({ seed: first + next });
      next += 1;
      given += 1;
    };
    worker.on("message", (result: JobResult) => {
      note(result);
      give();
    });
    worker.on(
      "exit",
      (code) => code && reject(new Error(`a worker process exited with status ${code}`)),
    );
    give();
  });

print(`seeds ${first} to ${first + count - 1}`);
const runWorkers = async (): Promise<void> => {
  while (!isOver()) await runWorker();
};
await Promise.all(Array.from({ length: Math.min(count, availableParallelism()) }, runWorkers));
if (values.met) print(metText(met));
print(totalsText({ ...totals, seconds: (performance.now() - startedAt) / 1000 }));
process.exitCode = totals.violated > 0 ? 1 : 0;
