import { describe, expect, it } from "vitest";
import { priceChangesText, priceHistoryText, priceListText } from "../../../lib/cli/price-text.ts";
import type { PriceChangeView, PriceView, ReadingView } from "../../../lib/jobs/prices/memory.ts";

const latest = {
  number: 2,
  kind: "instance",
  readAt: "2026-01-01T00:00:00.000Z",
  lastSeenAt: "2026-01-02T00:00:03.250Z",
  status: "show",
  total: { currency: "EUR", per_hour: "0.041886", per_month: "30.15792" },
} as const;

const web: PriceView = {
  name: "web",
  kind: "instance",
  latest,
  lastRun: { bucket: "2026-01-02T00:00:00.000Z", outcome: "unchanged", problem: null },
};

const change: PriceChangeView = {
  name: "web",
  kind: "instance",
  number: 2,
  readAt: "2026-01-02T00:00:00.000Z",
  previousReadAt: "2026-01-01T00:00:00.000Z",
  before: { currency: "EUR", per_hour: "0.02", per_month: "14.4" },
  after: { currency: "EUR", per_hour: "0.02", per_month: "18" },
  percent: "25.00",
  categories: [
    { category: "total.per_month", before: "14.4", after: "18" },
    { category: "per_month.volumes.ultra", before: null, after: "3.6" },
  ],
};

describe("the list of prices as text", () => {
  it("is a line for each name, in aligned columns", () => {
    const failed: PriceView = {
      name: "cluster-of-nobody",
      kind: "k8s_cluster",
      latest: null,
      lastRun: { ...web.lastRun, outcome: "failed", problem: "404 not-found" },
    };

    expect(priceListText([web, failed]).split("\n")).toEqual([
      "name               kind         EUR/hour  EUR/month  last seen             last run",
      "web                instance     0.041886  30.15792   2026-01-02T00:00:03Z  unchanged",
      "cluster-of-nobody  k8s_cluster  -         -          -                     failed at 2026-01-02T00:00:00Z: 404 not-found",
    ]);
  });

  it("escapes control characters in the provider's text", () => {
    const lastRun = { ...web.lastRun, outcome: "failed", problem: "a\u001b[2Jb\nc" } as const;

    expect(priceListText([{ ...web, lastRun }])).toMatch(/failed at \S+: a\\u001b\[2Jb\\u000ac$/);
  });

  it("reports an empty list", () => {
    expect(priceListText([])).toBe("no prices yet");
  });
});

describe("the history of a price as text", () => {
  it("is a line for each reading, with - for a value that the provider left out", () => {
    const readings: readonly ReadingView[] = [
      { ...latest, amounts: {} },
      {
        ...latest,
        number: 1,
        status: "error",
        total: { currency: null, per_hour: null, per_month: null },
        amounts: {},
      },
    ];

    expect(priceHistoryText(readings).split("\n")).toEqual([
      "no.  read                  last seen             EUR/hour  EUR/month  status",
      "2    2026-01-01T00:00:00Z  2026-01-02T00:00:03Z  0.041886  30.15792   show",
      "1    2026-01-01T00:00:00Z  2026-01-02T00:00:03Z  -         -          error",
    ]);
  });

  const readingOf = (number: number, day: number, per_month: string | null): ReadingView => ({
    ...latest,
    number,
    readAt: `2026-01-${String(day).padStart(2, "0")}T00:00:00.000Z`,
    lastSeenAt: `2026-01-${String(day + 1).padStart(2, "0")}T00:00:00.000Z`,
    status: per_month === null ? "hide" : "show",
    total: { currency: "EUR", per_hour: null, per_month },
    amounts: {},
  });

  it("begins with a line of blocks at a terminal, with the exact range", () => {
    const readings = [readingOf(3, 9, "10.5"), readingOf(2, 5, null), readingOf(1, 1, "9.75")];

    const lines = priceHistoryText(readings, 80, true).split("\n");

    expect(lines.slice(0, 3)).toEqual([
      `${"▁".repeat(27)}${" ".repeat(26)}${"█".repeat(7)}`,
      "lowest 9.75, highest 10.5 EUR a month",
      "",
    ]);
    expect(lines).toHaveLength(7);
  });

  it("compares amounts as decimals, and only those of one currency", () => {
    const dollars = { ...readingOf(1, 1, "1"), total: { ...latest.total, currency: "USD" } };
    const readings = [readingOf(3, 9, "9"), readingOf(2, 5, "10"), dollars];

    expect(priceHistoryText(readings, 80, true)).toContain("lowest 9, highest 10 EUR a month");
  });

  it.each([
    ["without a terminal", undefined, true, 2],
    ["at a terminal without blocks", 80, false, 2],
    ["for one reading", 80, true, 1],
  ])("is only the table %s", (_case, columns, isDrawn, count) => {
    const readings = [readingOf(2, 5, "10"), readingOf(1, 1, "9")].slice(0, count);

    expect(priceHistoryText(readings, columns, isDrawn)).toMatch(/^no\. {2}read/);
  });

  it("reports an empty list", () => {
    expect(priceHistoryText([])).toBe("no readings yet");
  });
});

describe("changes of prices as text", () => {
  it("show the totals before and after, and every changed category", () => {
    expect(priceChangesText([change]).split("\n")).toEqual([
      "read                  name  change   EUR/hour  EUR/month",
      "2026-01-02T00:00:00Z  web   25.00 %  0.02      14.4 → 18",
      "    total.per_month: 14.4 → 18",
      "    per_month.volumes.ultra: - → 3.6",
    ]);
  });

  it("omit a missing percentage, and show a changed currency", () => {
    const dollars = { ...change, percent: null, after: { ...change.after, currency: "USD" } };

    expect(priceChangesText([dollars]).split("\n")[1]).toBe(
      "2026-01-02T00:00:00Z  web   -       0.02  14.4 → 18  EUR → USD",
    );
  });

  it("name eight categories of a price and count the others", () => {
    const categories = Array.from({ length: 10 }, (_, index) => ({
      category: `c${index}`,
      before: "1",
      after: "2",
    }));

    const lines = priceChangesText([{ ...change, categories }, change]).split("\n");

    expect(lines.slice(9, 12)).toEqual([
      "    c7: 1 → 2",
      "    and 2 more",
      "2026-01-02T00:00:00Z  web   25.00 %  0.02      14.4 → 18",
    ]);
  });

  it("report an empty list", () => {
    expect(priceChangesText([])).toBe("no changes");
  });
});
