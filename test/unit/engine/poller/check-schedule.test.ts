import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pauseBeforeCheck } from "../../../../lib/engine/poller/check-tasks.ts";

const chance = (fraction: number) => ({ fraction: () => fraction, uuid: () => "" });

test.each([
  [0, 2_000],
  [10_000, 2_000],
  [20_000, 4_000],
  [60_000, 12_000],
  [300_000, 60_000],
  [86_400_000, 60_000],
])("without jitter a task of %i ms is checked again after %i ms", (age, pause) => {
  expect(pauseBeforeCheck(age, chance(0))).toBe(pause);
});

test("jitter takes off up to a quarter", () => {
  expect(pauseBeforeCheck(60_000, chance(0.5))).toBe(10_500);
  expect(pauseBeforeCheck(60_000, chance(0.999999))).toBe(9_000);
});

test("a task with a start in the future, because of a slow clock, is checked like a new one", () => {
  expect(pauseBeforeCheck(-60_000, chance(0))).toBe(2_000);
});

test("a pause is never shorter for an older task, and always between 1.5 and 60 seconds", () => {
  const age = fc.integer({ min: -1_000, max: 7 * 86_400_000 });
  void fc.assert(
    fc.property(
      age,
      age,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (a, b, f) => {
        const [younger, older] = [Math.min(a, b), Math.max(a, b)];
        const pauses = [younger, older].map((ms) => pauseBeforeCheck(ms, chance(f)));
        expect(pauses[0]!).toBeLessThanOrEqual(pauses[1]!);
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_500);
        expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
      },
    ),
  );
});
