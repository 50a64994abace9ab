import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  pauseBeforeCheck,
  pauseBeforeList,
  pauseOfPages,
} from "../../../../lib/engine/poller/open-tasks.ts";

const chance = (fraction: number) => ({ fraction: () => fraction, uuid: () => "" });
const least = chance(0);
const most = chance(0.999999);

describe("a task that is read by itself", () => {
  test.each([
    [0, 4_000, 5_000],
    [60_000, 4_000, 5_000],
    [120_000, 9_000, 9_000],
    [130_000, 9_000, 10_000],
    [800_000, 60_000, 60_000],
    [86_400_000, 60_000, 60_000],
    // A start in the future, because of a slow clock.
    [-60_000, 4_000, 5_000],
  ])("of %i ms is checked again after %i to %i ms", (age, shortest, longest) => {
    expect(pauseBeforeCheck(age, least)).toBe(shortest);
    expect(pauseBeforeCheck(age, most)).toBe(longest);
  });

  test("has a pause of whole seconds that is never shorter for an older task", () => {
    const age = fc.integer({ min: -1_000, max: 7 * 86_400_000 });
    const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    void fc.assert(
      fc.property(age, age, fraction, (a, b, f) => {
        const [younger, older] = [Math.min(a, b), Math.max(a, b)];
        const pauses = [younger, older].map((ms) => pauseBeforeCheck(ms, chance(f)));
        expect(pauses[0]!).toBeLessThanOrEqual(pauses[1]!);
        expect(pauses[0]! % 1_000).toBe(0);
        expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
      }),
    );
  });

  /** Each second pause is as short as can be, the others are as long as can be. */
  const checksOf = (durationMs: number): number => {
    let checks = 1;
    for (let age = 2_000; age < durationMs; checks += 1) {
      age += pauseBeforeCheck(age, checks % 2 === 0 ? least : most);
    }
    return checks;
  };

  test.each([
    ["60 s", 60_000, 15],
    ["2 h", 7_200_000, 160],
  ])("for %s costs at most so many checks", (_name, durationMs, limit) => {
    expect(checksOf(durationMs)).toBeLessThanOrEqual(limit);
  });
});

describe("a list", () => {
  test.each([
    [1, 3_200],
    [5, 3_200],
    [10, 6_000],
    [100, 60_000],
    [1_000, 60_000],
  ])("of %i pages is read again after %i ms at the soonest", (pages, pause) => {
    const ages = Array.from({ length: 100 }, () => 0);

    expect(pauseOfPages(pages)).toBe(pause);
    expect(pauseBeforeList(ages, pages, least)).toBe(Math.floor(pause / 1_000) * 1_000);
  });

  test.each([
    ["two old tasks", [86_400_000, 86_400_000], 30_000],
    ["ten old tasks", Array.from({ length: 10 }, () => 86_400_000), 6_000],
    ["a new task beside an old one", [86_400_000, 0], 4_000],
  ])("of %s costs no more requests than reads of each", (_name, ages, pause) => {
    expect(pauseBeforeList(ages, 1, least)).toBe(pause);
  });

  test("has a jitter of less than a second", () => {
    expect(pauseBeforeList([0, 0], 1, most)).toBe(4_000);
  });
});
