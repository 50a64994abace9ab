import { createFaults, type Faults } from "../../support/faults.ts";
import { type Cloud, openCloud } from "./cloud.ts";
import type { Difference, Fault } from "./differences.ts";
import type { Beginning } from "./parts.ts";

/** One course of events, which comes to the same end whatever call of a port goes wrong. */
export interface Scenario extends Beginning {
  readonly name: string;
  /** What happens from outside; what it causes has the time until everything is at rest. */
  readonly course: (cloud: Cloud) => Promise<void> | void;
  /** What must be true of the undisturbed end. */
  readonly end: (cloud: Cloud) => Promise<void> | void;
  /** Where a disturbed end may be another one. Each has to be seen, or it is named in vain. */
  readonly mayDiffer: readonly Difference[];
}

/** Runs a scenario until everything is at rest, with these faults on the way. */
export const runScenario = async (
  scenario: Scenario,
  strikes: readonly Pick<Fault, "nth" | "kind">[] = [],
): Promise<{ readonly cloud: Cloud; readonly faults: Faults }> => {
  const faults = createFaults();
  for (const { nth, kind } of strikes) faults.strike(nth, kind);
  const cloud = await openCloud(faults, scenario);
  await scenario.course(cloud);
  await cloud.untilQuiet();
  return { cloud, faults };
};
