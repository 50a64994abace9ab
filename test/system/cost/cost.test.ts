import { describe, expect, test } from "vitest";
import { AT_ONCE, FOLLOWING_60S, WITH_TASK } from "../../../lib/cost/monthly-bill.ts";
import { UNITS, type Units } from "../../../lib/cost/prices.ts";
import {
  type Figures,
  runScenario,
  type Scenario,
  scenarioOf,
} from "../../bench/cost/scenarios.ts";

/*
 * Keeps commands from becoming dearer. These are counts on virtual time, the same in each run and on each machine. They
 * have no CPU time, and so no dollars. A change that lowers a count lowers its bound here; a change that raises one
 * explains why.
 */

type Bounds = Partial<Figures>;

const SCENARIOS: Readonly<Record<string, readonly [scenario: Scenario, bounds: Bounds]>> = {
  "20 commands that answer at once": [
    scenarioOf.atOnce(20),
    {
      providerRequests: 0,
      wruPerCommand: 6,
      indexWruPerCommand: 2,
      listIndexWruPerCommand: 1,
      // The lane, again after the end, and the permits.
      rruPerCommand: 3,
      publishesPerCommand: 2,
    },
  ],
  "5 tasks of 60 s, each alone": [
    scenarioOf.alone(5, 60),
    {
      // Their ends are half a second beside the whole seconds of the pauses, so one of five is found a check later.
      providerRequests: 76,
      wruPerCommand: 39.6,
      indexWruPerCommand: 4,
      listIndexWruPerCommand: 1,
      rruPerCommand: 45.4,
      publishesPerCommand: 3,
    },
  ],
  "50 tasks that begin at one instant": [
    scenarioOf.together(50, 20),
    {
      // Lists follow each other after 3 s or 4 s. With half a second more they would be 35, and ends found later.
      providerRequests: 38,
      wruPerCommand: 9.62,
      indexWruPerCommand: 4,
      listIndexWruPerCommand: 1,
      rruPerCommand: 6.32,
      publishesPerCommand: 3,
    },
  ],
};

describe.each(Object.entries(SCENARIOS))("%s", (_name, [scenario, bounds]) => {
  test("cost no more than before", async () => {
    const { figures } = await runScenario(scenario);
    const dearer = Object.entries(bounds).flatMap(([name, bound]) => {
      const figure = figures[name as keyof Figures];
      return figure > bound ? [`${name}: ${figure}, but at most ${bound} before`] : [];
    });
    expect(dearer).toEqual([]);
  });
});

/** What `skyhook cost` does not take from a count: Lambda's time is measured, and an idle stage has the ticks too. */
const NOT_COUNTED = new Set(["gigabyteSeconds", "ticks"]);

/** Units that differ from the named ones by more than 5 %: fewer phases of a minute are counted here. */
const otherUnits = (named: Partial<Units>, counted: (unit: keyof Units) => number) =>
  UNITS.filter((unit) => !NOT_COUNTED.has(unit)).flatMap((unit) => {
    const [expected, found] = [named[unit] ?? 0, counted(unit)];
    return Math.abs(found - expected) > 0.05 * expected
      ? [`${unit}: ${found}, not ${expected}`]
      : [];
  });

describe("skyhook cost", () => {
  test("names the units of a command that answers at once", async () => {
    const { whole } = await runScenario(scenarioOf.atOnce(20));
    expect(otherUnits(AT_ONCE, (unit) => whole[unit])).toEqual([]);
  });

  test("names the units of a command with a task, and of following it", async () => {
    const { whole, following } = await runScenario(scenarioOf.alone(30, 60));
    expect(otherUnits(WITH_TASK, (unit) => whole[unit] - following[unit])).toEqual([]);
    expect(otherUnits(FOLLOWING_60S, (unit) => following[unit])).toEqual([]);
  });
});
