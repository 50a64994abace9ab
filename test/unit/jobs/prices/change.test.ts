import { describe, expect, test } from "vitest";
import { changeOf } from "../../../../lib/jobs/prices/change.ts";
import type { PriceReading } from "../../../../lib/jobs/prices/price.ts";

type Amounts = PriceReading["amounts"];

const reading = (amounts: Amounts, change: Partial<PriceReading> = {}): PriceReading => ({
  status: "show",
  currency: "EUR",
  amounts,
  ...change,
});

const MONTH = { "total.per_hour": "0.1", "total.per_month": "72" };

test("equal readings have no change", () => {
  expect(changeOf(reading(MONTH), reading({ ...MONTH }))).toBeUndefined();
});

test("a change has the total before and after, the percentage and every category", () => {
  const before = reading({ ...MONTH, "per_hour.flavor": "0.1", tax_percent: "0" });
  const after = reading({
    "total.per_hour": "0.0969",
    "total.per_month": "69.768",
    "per_hour.flavor": "0.0969",
    tax_percent: "0",
  });

  expect(changeOf(before, after)).toEqual({
    before: { currency: "EUR", per_hour: "0.1", per_month: "72" },
    after: { currency: "EUR", per_hour: "0.0969", per_month: "69.768" },
    percent: "-3.10",
    categories: [
      { category: "total.per_hour", before: "0.1", after: "0.0969" },
      { category: "total.per_month", before: "72", after: "69.768" },
      { category: "per_hour.flavor", before: "0.1", after: "0.0969" },
    ],
  });
});

describe("a category", () => {
  test.each<[string, Amounts, Amounts, unknown]>([
    [
      "that appears is a change from null",
      {},
      { "per_hour.volumes.ultra": "1" },
      [{ category: "per_hour.volumes.ultra", before: null, after: "1" }],
    ],
    [
      "that disappears is a change to null",
      { "per_hour.volumes.ultra": "1" },
      {},
      [{ category: "per_hour.volumes.ultra", before: "1", after: null }],
    ],
    [
      "that becomes null is a change to null",
      { "per_hour.flavor": "1" },
      { "per_hour.flavor": null },
      [{ category: "per_hour.flavor", before: "1", after: null }],
    ],
    ["that is null and was absent is no change", {}, { "per_hour.flavor": null }, undefined],
    ["that is absent and was null is no change", { "per_hour.flavor": null }, {}, undefined],
  ])("%s", (_, before, after, categories) => {
    const change = changeOf(reading({ ...MONTH, ...before }), reading({ ...MONTH, ...after }));

    expect(change?.categories).toEqual(categories);
  });

  test("other than the total does not change the total", () => {
    const change = changeOf(
      reading({ ...MONTH, tax_percent: "17" }),
      reading({ ...MONTH, tax_percent: "20" }),
    );

    expect(change).toMatchObject({ percent: "0.00", before: change?.after });
  });
});

describe("the percentage", () => {
  test.each<[string, PriceReading, PriceReading, string | null]>([
    [
      "is the monthly total's where there is one",
      reading({ "total.per_hour": "1", "total.per_month": "720" }),
      reading({ "total.per_hour": "3", "total.per_month": "1080" }),
      "50.00",
    ],
    [
      "is the hourly total's where there is no monthly one",
      reading({ "total.per_hour": "1" }),
      reading({ "total.per_hour": "3" }),
      "200.00",
    ],
    [
      "is the hourly total's where one of the monthly ones is missing",
      reading({ "total.per_hour": "1", "total.per_month": "720" }),
      reading({ "total.per_hour": "2", "total.per_month": null }),
      "100.00",
    ],
    [
      "is that of 30 days for what is priced by the day",
      reading({ price_per_hour: "0.08333333333333333", price_per_30d: "60" }),
      reading({ price_per_hour: "0.09375", price_per_30d: "67.5" }),
      "12.50",
    ],
    [
      "is null in another currency",
      reading(MONTH),
      reading({ "total.per_month": "144" }, { currency: "USD" }),
      null,
    ],
    [
      "is null when only the currency is another one",
      reading(MONTH),
      reading(MONTH, { currency: null }),
      null,
    ],
    [
      "is null from nothing",
      reading({ "total.per_month": "0" }),
      reading({ "total.per_month": "5" }),
      null,
    ],
    ["is null without a total before", reading({ tax_percent: "1" }), reading(MONTH), null],
    ["is null without a total after", reading(MONTH), reading({ tax_percent: "1" }), null],
  ])("%s", (_, before, after, percent) => {
    expect(changeOf(before, after)).toMatchObject({ percent });
  });
});
