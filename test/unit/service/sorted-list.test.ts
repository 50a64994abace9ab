import fc from "fast-check";
import { expect, test } from "vitest";
import { createSortedList } from "../../../lib/service/sorted-list.ts";

const byValue = (a: number, b: number): number => a - b;

/** Many numbers from a small range, so that chunks split and become empty, and deletions hit. */
const steps = fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 3000 })), {
  minLength: 1500,
  maxLength: 4000,
  size: "max",
});

test("a list holds what was added and not deleted, in order", () => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 3000 }), fc.nat({ max: 900 }), (taken, bound, length) => {
      const list = createSortedList(byValue);
      const known = new Set<number>();
      for (const [isAdded, value] of taken) {
        if (!isAdded) expect(list.delete(value)).toBe(known.delete(value));
        else if (!known.has(value)) {
          list.add(value);
          known.add(value);
        }
      }
      const expected = [...known].sort(byValue);

      expect(list.size()).toBe(expected.length);
      expect(list.slice(0, list.size())).toEqual(expected);
      expect(list.first()).toBe(expected[0]);
      expect(list.slice(bound, bound + length)).toEqual(expected.slice(bound, bound + length));
      expect(list.countBefore((value) => value < bound)).toBe(
        expected.filter((value) => value < bound).length,
      );
    }),
    { seed: 20260101, numRuns: 30, endOnFailure: true },
  );
});

test("ascending and descending numbers end in the same order, and all can be deleted", () => {
  const numbers = Array.from({ length: 5000 }, (_, n) => n);
  for (const order of [numbers, numbers.toReversed()]) {
    const list = createSortedList(byValue);
    for (const value of order) list.add(value);

    expect(list.slice(0, 5000)).toEqual(numbers);
    expect(order.every((value) => list.delete(value))).toBe(true);
    expect([list.size(), list.first(), list.delete(0)]).toEqual([0, undefined, false]);
  }
});

test("adding to 100,000 items compares about as often as a binary search", () => {
  let comparisons = 0;
  const list = createSortedList<number>((a, b) => {
    comparisons += 1;
    return a - b;
  });
  for (let value = 0; value < 100_000; value += 1) list.add(2 * value);
  comparisons = 0;

  list.add(77_777);
  list.delete(77_777);

  expect(comparisons).toBeLessThan(50);
});
