import { createFaults, type Faults } from "../../support/faults.ts";
import { type Cloud, openCloud } from "./cloud.ts";
import type { Difference, Fault } from "./differences.ts";
import type { Beginning } from "./parts.ts";

/** A scenario: it reaches the same end after a fault at any port call. */
export interface Scenario extends Beginning {
  readonly name: string;
  /** Input from outside. The system then runs until it is at rest. */
  readonly course: (cloud: Cloud) => Promise<void> | void;
  /** Assertions about the undisturbed end. */
  readonly end: (cloud: Cloud) => Promise<void> | void;
  /** Permitted differences of a disturbed end. A rule that never applies fails the test. */
  readonly mayDiffer: readonly Difference[];
}

/** Runs a scenario with these faults until the system is at rest. */
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
