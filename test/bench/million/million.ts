import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Measured } from "./million-worker.ts";

/*
 * `npm run bench:million` measures the pollers of stages with 1,000 to 1,000,000 open tasks of an hour on virtual time,
 * after three minutes, for five. Provider and ledger are computed, so that all memory is the pollers'. Accounts have
 * 1,000 requests/s. Takes a quarter of an hour.
 */

/** The number of accounts, each with a shard, and of open tasks of each. */
const STAGES = [
  [1, 1_000],
  [1, 10_000],
  [1, 100_000],
  [10, 100_000],
] as const;

const MEASURED_MINUTES = 5;
const HEAP_MB = 12_000;

const runStage = async (shards: number, open: number): Promise<Measured> => {
  const worker = fork(
    fileURLToPath(new URL("./million-worker.mjs", import.meta.url)),
    [shards, open].map(String),
    { execArgv: ["--expose-gc", `--max-old-space-size=${HEAP_MB}`] },
  );
  const answers: unknown[] = [];
  worker.on("message", (answer) => answers.push(answer));
  await once(worker, "exit");
  if (answers.length === 0) throw new Error(`the stage of ${shards} x ${open} tasks failed`);
  return answers[0] as Measured;
};

const rounded = (value: number, digits = 2): string => value.toFixed(digits);

const rowsOf = (shards: number, open: number, measured: Measured): Record<string, string> => ({
  "open tasks": String(shards * open),
  pollers: String(shards),
  "ends a minute": rounded(measured.ends / MEASURED_MINUTES, 0),
  "requests for each end": rounded(measured.requests / measured.ends, 3),
  "late, median, s": rounded(measured.lateP50Ms / 1_000, 1),
  "late, 90 %, s": rounded(measured.lateP90Ms / 1_000, 1),
  "RRU for each end": rounded(measured.readUnits / measured.ends),
  "WRU of the table for each end": rounded(measured.writeUnits / measured.ends),
  "runs of a poller a minute": rounded(measured.runs / MEASURED_MINUTES / shards, 1),
  "CPU ms for each end": rounded(measured.cpuMs / measured.ends),
  "CPU s of a poller a minute": rounded(measured.cpuMs / 1_000 / MEASURED_MINUTES / shards),
  "longest run, s of waits": rounded(measured.longestMs / 1_000, 1),
  "longest run, s of CPU": rounded(measured.longestCpuMs / 1_000, 1),
  "memory of a poller, MB": rounded(measured.keptBytes / shards / 1e6, 1),
});

const results: Record<string, string>[] = [];
for (const [shards, open] of STAGES) {
  results.push(rowsOf(shards, open, await runStage(shards, open)));
}
for (const name of Object.keys(results[0] ?? {})) {
  const cells = results.map((row) => String(row[name]).padStart(14));
  process.stdout.write(`${name.padEnd(34)}${cells.join("")}\n`);
}
