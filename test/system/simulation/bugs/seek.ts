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

/** Runs seeds until one violates the invariant, or any if none is given. A crash of the simulation counts as one. */
export const seek = async ({
  simulation,
  invariant,
  seeds,
}: Search): Promise<Found | undefined> => {
  const { run }: Simulation = await import(/* @vite-ignore */ simulation);
  for (const [index, seed] of seeds.entries()) {
    const found = await run({ seed }).then(
      ({ violations }) =>
        violations.find((one) => invariant === undefined || one.invariant === invariant),
      (error: Error) => ({ invariant: 0, text: `the simulation failed: ${error.message}` }),
    );
    if (found) return { seed, needed: index + 1, ...found };
  }
  return undefined;
};
