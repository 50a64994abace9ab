import { isAtRest } from "../simulation/run.ts";
import { type Beginning, type Cloud, openCloud } from "./cloud.ts";
import type { Difference } from "./differences.ts";
import type { DecideInState } from "./state.ts";

/** A scenario: it reaches the same end after each fault. */
export interface Scenario extends Beginning {
  readonly name: string;
  /** Whether a second request cannot do it again: then it also runs with each pair of kills. */
  readonly isOnceOnly?: boolean;
  /** Input from outside. The system then runs until it is at rest. */
  readonly course: (cloud: Cloud) => Promise<void> | void;
  /** Assertions about the undisturbed end. */
  readonly end: (cloud: Cloud) => Promise<void> | void;
  /** Permitted differences of a disturbed end. A rule that never applies fails the test. */
  readonly mayDiffer: readonly Difference[];
}

/** A lost poller lease, message or reply to a create takes minutes; more is a hang. */
const MAX_MS = 3 * 60 * 60_000;
const LOOK_MS = 5_000;

/** Runs a scenario with the faults that `decide` strikes, until the system is at rest. */
export const runScenario = async (scenario: Scenario, decide: DecideInState): Promise<Cloud> => {
  const cloud = await openCloud(scenario, decide);
  await scenario.course(cloud);
  const { timeline } = cloud;
  const endsAt = timeline.now() + MAX_MS;
  await timeline.advance(LOOK_MS);
  while (!(await isAtRest(cloud))) {
    if (timeline.now() >= endsAt) throw new Error("the system does not come to rest");
    await timeline.advance(LOOK_MS);
  }
  return cloud;
};
