import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { changeOf } from "../../../../lib/jobs/prices/change.ts";
import type { PriceReading } from "../../../../lib/jobs/prices/price.ts";
import { priceChanged } from "../../../../lib/jobs/prices/price-events.ts";
import type { JsonObject } from "../../../../lib/platform/ports/ledger.ts";
import { isMatch } from "../../intake/event-patterns/pattern-of.ts";

const READ_AT = Date.UTC(2026, 0, 1);
const asked = {
  account: "acme",
  name: "web",
  kind: "instance",
  fingerprint: "f",
  bucket: "2026-01-01T00:00:00.000Z",
} as const;

const readingOf = (perMonth: string): PriceReading => ({
  status: "show",
  currency: "EUR",
  amounts: { "total.per_month": perMonth },
});

/** Data of `PriceChanged` for a monthly total before and after. */
const dataOf = (from: string, to: string) => {
  const [one, other] = [readingOf(from), readingOf(to)];
  const stored = {
    kind: "instance",
    fingerprint: "f",
    readAt: READ_AT,
    lastSeenAt: READ_AT,
  } as const;
  const change = changeOf(one, other);
  if (!change) throw new Error("no change");
  const { detail } = priceChanged(asked, {
    before: { ...stored, number: 1, reading: one },
    after: { ...stored, number: 2, reading: other },
    change,
  });
  return detail.data ?? null;
};

test.each([
  ["100", "112.5", "12.50", 12.5],
  ["100", "96.9", "-3.10", -3.1],
  ["8", "8.00039", "0.00", 0],
  ["0", "5", null, null],
  ["0.000000000000000001", "1", "99999999999999999900.00", 5_000_000_000],
  ["0.000000000000000001", "-1", "-100000000000000000100.00", -5_000_000_000],
])("a change from %s to %s has percent %s and percentNumber %s", (from, to, percent, number) => {
  expect(dataOf(from, to)).toMatchObject({ percent, percentNumber: number });
});

test("a numeric pattern of EventBridge matches percentNumber", () => {
  const pattern = { detail: { data: { percentNumber: [{ numeric: [">", 10] }] } } };

  expect(isMatch(pattern, { detail: { data: dataOf("100", "112.5") } })).toBe(true);
  expect(isMatch(pattern, { detail: { data: dataOf("100", "101") } })).toBe(false);
  expect(isMatch(pattern, { detail: { data: dataOf("0.000000000000000001", "1") } })).toBe(true);
});

/** The first pattern of the page, which is the one of the price alert. */
const alertPattern = (): JsonObject => {
  const [, text = ""] =
    /```json pattern\n(.*?)```/s.exec(readFileSync("docs/recipes.md", "utf8")) ?? [];
  return JSON.parse(text);
};

test.each([
  ["100", "105", true],
  ["100", "104.99", false],
  ["100", "90", false],
  ["0", "5", false],
])("the recipe's alert on a change from %s to %s: %s", (from, to, isAlert) => {
  const event = {
    source: "skyhook",
    "detail-type": "PriceChanged",
    detail: { data: dataOf(from, to) },
  };

  expect(isMatch(alertPattern(), event)).toBe(isAlert);
  expect(isMatch(alertPattern(), { ...event, "replay-name": "again" })).toBe(false);
});
