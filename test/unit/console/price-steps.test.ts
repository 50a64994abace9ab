import { describe, expect, test } from "vitest";
import { stepsOf, unitsOf } from "../../../lib/console/page/price-steps.ts";
import type { ReadingView } from "../../../lib/jobs/prices/memory.ts";

const at = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();
const seconds = (hour: number): number => Date.UTC(2026, 0, 1, hour) / 1000;

const reading = (
  number: number,
  [from, to]: readonly [number, number],
  amount: string | null,
  own: Partial<ReadingView> = {},
): ReadingView => ({
  number,
  kind: "ddos",
  readAt: at(from),
  lastSeenAt: at(to),
  status: "show",
  total: { currency: "EUR", per_hour: null, per_month: amount },
  amounts: {},
  ...own,
});

describe("the steps of a price chart", () => {
  test("begin each price at its reading, and end at the time it was last seen", () => {
    const readings = [reading(2, [3, 5], "7.5"), reading(1, [0, 2], "7")];

    expect(stepsOf(readings, "per_month")).toEqual({
      currency: "EUR",
      x: [0, 3, 5].map(seconds),
      y: [7, 7.5, 7.5],
      amounts: ["7", "7.5", "7.5"],
      changes: [seconds(3)],
    });
  });

  test("keep exact amounts beside the rounded ones", () => {
    const { y, amounts } = stepsOf([reading(1, [0, 0], "0.1000000000000000000001")], "per_month");

    expect(amounts).toEqual(["0.1000000000000000000001"]);
    expect(y).toEqual([0.1]);
  });

  test("have a gap where the price is hidden, and mark the change behind it", () => {
    const readings = [
      reading(4, [3, 3], "8"),
      reading(3, [2, 2], null, { status: "hide" }),
      reading(2, [1, 1], "7"),
      reading(1, [0, 0], "7"),
    ];

    const { y, changes } = stepsOf(readings, "per_month");

    expect(y).toEqual([7, 7, null, 8]);
    expect(changes).toEqual([seconds(3)]);
  });

  test("leave out another currency, because one axis cannot show both", () => {
    const dollars = { currency: "USD", per_hour: null, per_month: "9" };
    const readings = [reading(2, [1, 1], "7"), reading(1, [0, 0], "9", { total: dollars })];

    const { y, changes, currency } = stepsOf(readings, "per_month");

    expect(currency).toBe("EUR");
    expect(y).toEqual([null, 7]);
    expect(changes).toEqual([]);
  });

  test("go forward in time even if the clock was set back", () => {
    const { x } = stepsOf([reading(2, [1, 1], "8"), reading(1, [2, 2], "7")], "per_month");

    expect(x[1]).toBeGreaterThan(x[0] ?? 0);
  });

  test("are empty without a reading", () => {
    expect(stepsOf([], "per_month")).toMatchObject({ x: [], y: [], currency: null });
  });
});

test("only units with a shown amount can be chosen, the month first", () => {
  const both = { currency: "EUR", per_hour: "1", per_month: "2" };
  const hidden = reading(1, [0, 0], null, { status: "hide", total: both });

  expect(unitsOf([reading(1, [0, 0], "7", { total: both })])).toEqual(["per_month", "per_hour"]);
  expect(unitsOf([reading(1, [0, 0], "7"), hidden])).toEqual(["per_month"]);
  expect(unitsOf([hidden])).toEqual([]);
});
