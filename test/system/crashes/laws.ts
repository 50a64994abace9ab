import { describe, expect, test } from "vitest";
import { type Difference, type Fault, unexplained } from "./differences.ts";
import { runScenario, type Scenario } from "./scenario.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import { deathsOf, stepsOf } from "./steps.ts";

/** A scenario runs several hundred times, on a machine with other work. */
const TIMEOUT_MS = 300_000;
const MAX_LINES = 8;

/** No message is lost, and no work is outstanding. */
const AT_REST = {
  "queue > messages": "0",
  "queue > dead letters": "0",
  "published before it was durable": "[]",
  "calls that failed at every retry": "[]",
  "a second with more requests than the rate limit": "false",
};
/**
 * Facts of a record with outstanding work: due, holder or waiting command of a lane, request,
 * unpublished event.
 */
const IS_LEFT = /^ledger > .* > (?:due|holder|waiting > |request|outbox > |is held)/;

const placeOf = (faults: readonly Fault[]): string =>
  faults.map(({ kind, nth, call }) => `${kind} at call ${nth}, ${call}`).join("; then ");

const clipped = (lines: readonly string[]): readonly string[] =>
  lines.length > MAX_LINES
    ? [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`]
    : lines;

/** Differences from the undisturbed end that no rule permits. */
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
    if (missed.length > 0) return [`${placeOf(missed)}: another call took place instead`];
    const lines = unexplained({ undisturbed, disturbed }, faults, scenario.mayDiffer, used);
    return lines.length === 0 ? [] : [`${placeOf(faults)}:\n  ${clipped(lines).join("\n  ")}`];
  } catch (error) {
    return [`${placeOf(faults)}: ${error}`];
  }
};

const expectNone = (wrong: readonly string[]): void => {
  if (wrong.length > 0) expect.fail(clipped(wrong).join("\n"));
};

/** Runs each scenario once for each call of a port and each fault that the call can have. */
export const describeCrashes = (scenarios: readonly Scenario[]): void => {
  for (const scenario of scenarios) {
    describe(scenario.name, () => {
      test("reaches its end without faults", async () => {
        const { cloud } = await runScenario(scenario);

        const facts = await takeSnapshot(cloud);

        await scenario.end(cloud);
        expect(Object.fromEntries(facts)).toMatchObject(AT_REST);
        expect([...facts.keys()].filter((path) => IS_LEFT.test(path))).toEqual([]);
      });

      test("reaches the same end after a fault at any port call", {
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

/** Runs each scenario once for each two calls with a kill behind them. */
export const describeDoubleCrashes = (scenarios: readonly Scenario[]): void => {
  for (const scenario of scenarios) {
    test(`${scenario.name}: reaches the same end`, { timeout: TIMEOUT_MS }, async () => {
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
