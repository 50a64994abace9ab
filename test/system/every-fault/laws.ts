import { describe, expect, test } from "vitest";
import { exactly, strikeId } from "../simulation/engine/faults.ts";
import { type Cloud, FIRST_TICK } from "./cloud.ts";
import { type Difference, type Fault, unexplained } from "./differences.ts";
import { runScenario, type Scenario } from "./scenario.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";
import type { DecideInState } from "./state.ts";
import { ARE_ALL_WANTED, killsOf, type Place, strikesOf } from "./strikes.ts";

/** A scenario runs several hundred times, with all faults several thousand times, on a machine with other work. */
const TIMEOUT_MS = ARE_ALL_WANTED ? 3_600_000 : 300_000;
const MAX_LINES = 8;

/** No rule is broken. */
const IN_ORDER = {
  "published before it was durable": "[]",
  "broken rules": "[]",
  "errors of the service": "[]",
};
/**
 * Facts of a record with outstanding work: due, holder or waiting command of a lane, request,
 * unpublished event.
 */
const IS_LEFT = /^ledger > .* > (?:due|holder|waiting > |request|outbox > |is held)/;

const textOf = (faults: readonly Fault[]): string =>
  faults.map(({ kind, place }) => `${kind}, at ${place}`).join("; then ");

const clipped = (lines: readonly string[]): readonly string[] =>
  lines.length > MAX_LINES
    ? [...lines.slice(0, MAX_LINES), `and ${lines.length - MAX_LINES} more`]
    : lines;

/** Runs a scenario with these faults. @param visit called at each place behind the last fault */
const runWith = async (
  scenario: Scenario,
  faults: readonly Fault[],
  visit: (...call: Parameters<DecideInState>) => void = () => {},
): Promise<Cloud> => {
  const strike = exactly(new Set(faults.map(strikeId)));
  let left = faults.length;
  return runScenario(scenario, (place, kinds, state) => {
    if (left === 0) visit(place, kinds, state);
    const kind = strike(place, kinds);
    if (kind !== undefined) left -= 1;
    return kind;
  });
};

/** As `runWith`, with the places from the last fault on. */
const placesWith = async (
  scenario: Scenario,
  faults: readonly Fault[] = [],
): Promise<{ readonly cloud: Cloud; readonly places: readonly Place[] }> => {
  const places: Place[] = [];
  const cloud = await runWith(scenario, faults, (place, kinds, state) => {
    places.push({ place, kinds, state: state() });
  });
  return { cloud, places };
};

/** Differences from the undisturbed end that no rule permits. */
const faultsOfEnd = async (
  scenario: Scenario,
  undisturbed: Snapshot,
  faults: readonly Fault[],
  used: (difference: Difference) => void,
): Promise<readonly string[]> => {
  try {
    const cloud = await runWith(scenario, faults);
    const disturbed = await takeSnapshot(cloud);
    const struck = cloud.faults.struck.filter(({ place }) => place !== FIRST_TICK);
    if (struck.length < faults.length) return [`${textOf(faults)}: did not take place`];
    const lines = unexplained({ undisturbed, disturbed }, faults, scenario.mayDiffer, used);
    return lines.length === 0 ? [] : [`${textOf(faults)}:\n  ${clipped(lines).join("\n  ")}`];
  } catch (error) {
    return [`${textOf(faults)}: ${error}`];
  }
};

const expectNone = (wrong: readonly string[]): void => {
  if (wrong.length > 0) expect.fail(clipped(wrong).join("\n"));
};

const expectSeen = (permitted: readonly Difference[], seen: ReadonlySet<Difference>): void => {
  const unseen = permitted.filter((difference) => !seen.has(difference));
  expect(unseen.map(({ because, facts }) => `${because}: ${facts}`)).toEqual([]);
};

/**
 * Runs each scenario once for each place and each kind of fault that it can have, and for pairs of kills. What equals a
 * strike of an earlier scenario in the list is left out.
 */
export const describeScenarios = (scenarios: readonly Scenario[]): void => {
  const listed = new Set<string>();
  const seen = new Set<Difference>();
  for (const scenario of scenarios) {
    describe(scenario.name, { timeout: TIMEOUT_MS }, () => {
      test("reaches its end without faults", async () => {
        const cloud = await runWith(scenario, []);

        const facts = await takeSnapshot(cloud);

        await scenario.end(cloud);
        expect(Object.fromEntries(facts)).toMatchObject(IN_ORDER);
        expect([...facts.keys()].filter((path) => IS_LEFT.test(path))).toEqual([]);
      });

      test("reaches the same end after each fault", async () => {
        const { cloud, places } = await placesWith(scenario);
        const undisturbed = await takeSnapshot(cloud);
        const used = new Set<Difference>();

        const wrong: string[] = [];
        for (const fault of strikesOf(places, listed)) {
          wrong.push(
            ...(await faultsOfEnd(scenario, undisturbed, [fault], (each) => void used.add(each))),
          );
        }

        expectNone(wrong);
        for (const difference of used) seen.add(difference);
        if (ARE_ALL_WANTED) expectSeen(scenario.mayDiffer, used);
      });

      if (!scenario.isOnceOnly) return;
      test("reaches the same end after each two kills", async () => {
        const { cloud, places } = await placesWith(scenario);
        const undisturbed = await takeSnapshot(cloud);

        const wrong: string[] = [];
        const seconds = new Set<string>();
        for (const first of killsOf(places, new Set())) {
          const { places: after } = await placesWith(scenario, [first]);
          for (const second of killsOf(after, seconds)) {
            wrong.push(...(await faultsOfEnd(scenario, undisturbed, [first, second], () => {})));
          }
        }

        expectNone(wrong);
      });
    });
  }
  test("permits only differences that occur", () => {
    for (const { mayDiffer } of scenarios) expectSeen(mayDiffer, seen);
  });
};
