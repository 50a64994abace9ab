import type { Simulation } from "./mutated.ts";
import type { Mutation } from "./mutations.ts";

/** A message of the parent process: a simulation with a bug, and the seeds to run. */
export interface Search {
  /** URL of the simulation's module. */
  readonly simulation: string;
  readonly invariant: Mutation["invariant"];
  readonly seeds: readonly number[];
}

/** The first seed that finds the bug. */
export interface Found {
  readonly seed: number;
  /** Number of seeds that were run, this one included. */
  readonly needed: number;
  readonly invariant: number;
  readonly text: string;
}

/** Does the work and then rejects if it left an error that nothing caught, which would end a process. */
const unlessCrashed = async <T>(work: () => Promise<T>): Promise<T> => {
  const crashes: unknown[] = [];
  const listener = (error: unknown): void => void crashes.push(error);
  const restore = ["uncaughtException", "unhandledRejection"].map((name) => {
    // The test runner's own listeners would fail its run.
    const others = process.rawListeners(name);
    process.removeAllListeners(name).on(name, listener);
    return (): void => {
      process.off(name, listener);
      for (const other of others) process.on(name, other as () => void);
    };
  });
  try {
    const result = await work();
    if (crashes.length > 0) throw crashes[0];
    return result;
  } finally {
    for (const each of restore) each();
  }
};

/** Runs seeds until one violates the invariant, or any if none is given. A crash of the simulation counts as one. */
export const seek = async ({
  simulation,
  invariant,
  seeds,
}: Search): Promise<Found | undefined> => {
  const { run }: Simulation = await import(/* @vite-ignore */ simulation);
  for (const [index, seed] of seeds.entries()) {
    const found = await unlessCrashed(() => run({ seed })).then(
      ({ violations }) =>
        violations.find((one) => invariant === undefined || one.invariant === invariant),
      (error: Error) => ({ invariant: 0, text: `the simulation failed: ${error.message}` }),
    );
    if (found) return { seed, needed: index + 1, ...found };
  }
  return undefined;
};
