import { createVirtualClock } from "../../support/virtual-clock.ts";
import { openStage, type Stage } from "./stage.ts";

/* Runs the pollers of one stage, given by its number of shards and of open tasks in each; million.ts starts this process. */

const MINUTE_MS = 60_000;
const WARM_UP_MS = 3 * MINUTE_MS;
const MEASURED_MS = 5 * MINUTE_MS;

/** Of one stage, measured for five minutes of virtual time. */
export interface Measured {
  /** Commands whose end was published. */
  readonly ends: number;
  readonly requests: number;
  readonly lateP50Ms: number;
  readonly lateP90Ms: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly runs: number;
  readonly cpuMs: number;
  /** The longest run, in virtual time and CPU time of a whole core. */
  readonly longestMs: number;
  readonly longestCpuMs: number;
  /** Heap that the pollers keep between runs, bytes. */
  readonly keptBytes: number;
}

const heapBytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const measure = async (shards: number, open: number): Promise<Measured> => {
  const clock = createVirtualClock();
  let stage: Stage | undefined = await openStage(clock, { shards, open });
  await clock.advance(WARM_UP_MS);
  const [endsBefore, runsBefore, requestsBefore] = [
    stage.late.length,
    stage.runs.length,
    stage.requests(),
  ];
  stage.totals.reset();
  await clock.advance(MEASURED_MS);
  const late = stage.late.slice(endsBefore).sort((a, b) => a - b);
  const runs = stage.runs.slice(runsBefore);
  const [following, rest] = [stage.totals.of("following"), stage.totals.of("rest")];
  const requests = stage.requests() - requestsBefore;
  const before = heapBytes();
  await stage.stop();
  stage = undefined;
  const quantile = (part: number): number => late[Math.ceil(part * late.length) - 1] ?? Number.NaN;
  const longest = (name: "cpuMs" | "waitedMs"): number => Math.max(...runs.map((run) => run[name]));
  return {
    ...{ ends: late.length, requests, lateP50Ms: quantile(0.5), lateP90Ms: quantile(0.9) },
    readUnits: following.reads + rest.reads,
    writeUnits: following.tableWrites + rest.tableWrites,
    runs: runs.length,
    cpuMs: runs.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    ...{ longestMs: longest("waitedMs"), longestCpuMs: longest("cpuMs") },
    keptBytes: before - heapBytes(),
  };
};

const [shards, open] = process.argv.slice(2).map(Number);
if (!shards || !open || !process.send) throw new Error("million.mjs starts this process");
process.send(await measure(shards, open), () => process.exit());
