import { describe, expect, test } from "vitest";
import { type Difference, type Fault, unexplained } from "./differences.ts";
import { runScenario, type Scenario } from "./scenario.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { deathsOf, stepsOf } from "./steps.ts";

/** A scenario is run some hundred times, on a machine that may do other things beside it. */
const TIMEOUT_MS = 300_000;
const MAX_TOLD = 8;

/** Nothing is lost, and nobody waits for anything. */
const AT_REST = {
  "queue > messages": "0",
  "queue > dead letters": "0",
  "told before it was durable": "[]",
  "calls that failed at every retry": "[]",
  "a second with more requests than the rate limit": "false",
};
/** Of a record: what is due, who holds a lane or waits in it, a request, an event that is not out. */
const IS_LEFT = /^ledger > .* > (?:due|holder|waiting > |request|outbox > |is held)/;

const placeOf = (faults: readonly Fault[]): string =>
  faults.map(({ kind, nth, call }) => `${kind} at call ${nth}, ${call}`).join("; then ");

const clipped = (lines: readonly string[]): readonly string[] =>
  lines.length > MAX_TOLD
    ? [...lines.slice(0, MAX_TOLD), `and ${lines.length - MAX_TOLD} more`]
    : lines;

/** What is wrong with the end of a disturbed course; nothing when it is the undisturbed one. */
const faultsOfEnd = async (
  scenario: Scenario,
  undisturbed: Snapshot,
  faults: readonly Fault[],
  used: (difference: Difference) => void,
): Promise<readonly string[]> => {
  try {
    const { cloud, faults: struck } = await runScenario(scenario, faults);
    const disturbed = await takeSnapshot(cloud);
    const missed = faults.filter(({ nth, call }) => struck.calls[nth - 1] !== call);
    if (missed.length > 0) return [`${placeOf(missed)}: another call was made in its place`];
    const lines = unexplained({ undisturbed, disturbed }, faults, scenario.mayDiffer, used);
    return lines.length === 0 ? [] : [`${placeOf(faults)}:\n  ${clipped(lines).join("\n  ")}`];
  } catch (error) {
    return [`${placeOf(faults)}: ${error}`];
  }
};

const expectNone = (wrong: readonly string[]): void => {
  if (wrong.length > 0) expect.fail(clipped(wrong).join("\n"));
};

/** Runs each scenario once for every call of a port and every way in which it can go wrong. */
export const describeCrashes = (scenarios: readonly Scenario[]): void => {
  for (const scenario of scenarios) {
    describe(scenario.name, () => {
      test("ends as it should when nothing goes wrong", async () => {
        const { cloud } = await runScenario(scenario);

        const facts = await takeSnapshot(cloud);

        await scenario.end(cloud);
        expect(Object.fromEntries(facts)).toMatchObject(AT_REST);
        expect([...facts.keys()].filter((path) => IS_LEFT.test(path))).toEqual([]);
      });

      test("ends the same whatever call of a port goes wrong", {
        timeout: TIMEOUT_MS,
      }, async () => {
        const { cloud, faults } = await runScenario(scenario);
        const undisturbed = await takeSnapshot(cloud);
        const unseen = new Set(scenario.mayDiffer);

        const wrong: string[] = [];
        for (const fault of stepsOf(faults.made)) {
          const used = (difference: Difference) => void unseen.delete(difference);
          wrong.push(...(await faultsOfEnd(scenario, undisturbed, [fault], used)));
        }

        expectNone(wrong);
        expect([...unseen].map(({ because }) => because)).toEqual([]);
      });
    });
  }
};

/** Runs each scenario once for every two calls behind which somebody dies. */
export const describeDoubleCrashes = (scenarios: readonly Scenario[]): void => {
  for (const scenario of scenarios) {
    test(`${scenario.name}: ends the same`, { timeout: TIMEOUT_MS }, async () => {
      const { cloud, faults } = await runScenario(scenario);
      const undisturbed = await takeSnapshot(cloud);

      const wrong: string[] = [];
      for (const first of deathsOf(faults.made)) {
        const { faults: disturbed } = await runScenario(scenario, [first]);
        for (const second of deathsOf(disturbed.made, first.nth + 1)) {
          wrong.push(...(await faultsOfEnd(scenario, undisturbed, [first, second], () => {})));
        }
      }

      expectNone(wrong);
    });
  }
};
