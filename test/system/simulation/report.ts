import type { Moment } from "./history.ts";
import type { RunReport } from "./run.ts";

const HOUR_MS = 60 * 60 * 1000;

const line = ({ afterMs, text }: Moment): string =>
  `${(afterMs / 1000).toFixed(3).padStart(10)} s  ${text}`;

/**
 * The violation, the shortest history that still shows it, and the command that runs the seed again.
 */
export const violationText = (found: RunReport, shortest: RunReport): string =>
  [
    `seed ${found.seed} breaks invariant ${shortest.violations[0]?.invariant}:`,
    ...shortest.violations.map(({ invariant, text }) => `  ${invariant}: ${text}`),
    `the shortest history found: ${shortest.parts.length} of ${found.parts.length} workload steps, ` +
      `${shortest.struck.length} of ${found.struck.length} faults`,
    ...shortest.history.map(line),
    `to run it alone: npm run simulate -- --seed ${found.seed}`,
  ].join("\n");

interface Cost {
  readonly seeds: number;
  readonly cpuMs: number;
}

export interface Totals {
  readonly seeds: number;
  readonly violated: number;
  readonly virtualMs: number;
  readonly seconds: number;
  /** CPU time of the seeds with a crowd, and of the others. */
  readonly crowded: Cost;
  readonly others: Cost;
}

const costText = ({ seeds, cpuMs }: Cost): string =>
  `${seeds} at ${(cpuMs / 1_000 / Math.max(1, seeds)).toFixed(2)} s CPU each`;

/** Coverage by name, each with the number of runs. */
export const metText = (met: ReadonlyMap<string, number>): string =>
  [...met]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, runs]) => `${String(runs).padStart(8)}  ${name}`)
    .join("\n");

/** The last two lines of a simulation. */
export const totalsText = (totals: Totals): string => {
  const { seeds, violated, virtualMs, seconds, crowded, others } = totals;
  return [
    `${seeds} seeds, ${(seeds / seconds).toFixed(1)} seeds/s, ` +
      `${(virtualMs / HOUR_MS).toFixed(1)} h of virtual time, ${violated} with a violation`,
    `with a crowd ${costText(crowded)}; without ${costText(others)}`,
  ].join("\n");
};
