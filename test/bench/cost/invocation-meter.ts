import { setImmediate as nextTurn } from "node:timers";
import { UNITS, type Units } from "../../../lib/cost/prices.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import type { Part, Use } from "./attribution.ts";

/**
 * Share of a CPU that a function has. 1,769 MB come with one:
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
 */
const CPU_SHARE = deployment.memoryMegabytes / 1_769;

/**
 * CPU time from the start of a machine until its handler is loaded, ms: `npm run bench:load` in
 * docs/internals/performance.md. AWS bills it like the invocation.
 */
export const START_CPU_MS = 160;

const none = (): Record<keyof Units, number> =>
  Object.fromEntries(UNITS.map((unit) => [unit, 0])) as Record<keyof Units, number>;

/** Units by part since the last reset. */
export const createTotals = () => {
  let totals = { following: none(), rest: none() };
  return {
    add(part: Part, uses: readonly Use[]): void {
      for (const { unit, amount } of uses) totals[part][unit] += amount;
    },
    reset(): void {
      totals = { following: none(), rest: none() };
    },
    of: (part: Part): Units => totals[part],
  };
};

/** CPU time of one machine that no invocation has been charged yet. */
export interface CpuAccount {
  ms: number;
}

/** How often the process's CPU time is read, ms: reading it takes as long as a small step. */
const READ_EVERY_MS = 50;

/**
 * Divides this process's CPU time between the machines. Each step of virtual time wakes one sleeper, and each port call
 * ends its caller's step. So all that runs in a step, up to the next turn of the event loop, belongs to the machine
 * that was woken. Steps of the service, the queues, the ledger, the clock and these meters belong to none.
 *
 * A step is charged its elapsed time, multiplied by the process's CPU time per elapsed time, because other processes
 * share the cores. That includes garbage collection and compilation. It lacks what the functions do on AWS only: the AWS
 * SDK, TLS and log lines.
 */
export const createCpuMeter = () => {
  let current: CpuAccount | undefined;
  let stepBeganAt = 0;
  let cpuPerElapsed = 1;
  let last = { at: performance.now(), cpu: process.cpuUsage() };
  const readCpu = (now: number): void => {
    const { user, system } = process.cpuUsage(last.cpu);
    cpuPerElapsed = (user + system) / 1_000 / (now - last.at);
    last = { at: now, cpu: process.cpuUsage() };
  };
  const switchTo = (next: CpuAccount | undefined): void => {
    if (current === undefined && next === undefined) return;
    const now = performance.now();
    if (current) current.ms += (now - stepBeganAt) * cpuPerElapsed;
    if (now - last.at > READ_EVERY_MS) readCpu(now);
    current = next;
    stepBeganAt = performance.now();
  };
  return {
    /** Begins a step of this account; undefined: of none. */
    step(account: CpuAccount | undefined): void {
      switchTo(account);
      if (account) nextTurn(() => switchTo(undefined));
    },
    stop: (): void => switchTo(undefined),
  };
};

/** Gigabyte-seconds that Lambda bills for waiting and computing, rounded up to a millisecond as on a bill. */
export const gigabyteSecondsOf = (waitedMs: number, cpuMs: number): number =>
  (Math.ceil(waitedMs + cpuMs / CPU_SHARE) / 1_000) * (deployment.memoryMegabytes / 1_024);
