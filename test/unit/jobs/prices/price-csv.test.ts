import { describe, expect, it } from "vitest";
import type { PriceView, ReadingView } from "../../../../lib/jobs/prices/memory.ts";
import { changesCsv, historyCsv, priceListCsv } from "../../../../lib/jobs/prices/price-csv.ts";

const reading: ReadingView = {
  number: 2,
  kind: "instance",
  readAt: "2026-01-01T00:00:00.000Z",
  lastSeenAt: "2026-01-02T00:00:00.000Z",
  status: "show",
  total: { currency: "EUR", per_hour: "0.08333333333333333", per_month: "12345678901234567890.1" },
  amounts: {},
};

const problemOf = (problem: string): string => {
  const lastRun = { bucket: "B", outcome: "failed", problem } as const;
  const price: PriceView = { name: "web", kind: "ddos", latest: null, lastRun };
  return priceListCsv([price]).split("\r\n")[1]?.replace("web,ddos,,,,,,,B,failed,", "") ?? "";
};

describe("prices as CSV", () => {
  it("have heads, a line for each reading, and exact decimals", () => {
    const unknown = { currency: null, per_hour: null, per_month: null };
    const hidden = { ...reading, number: 1, status: "hide", total: unknown } as const;

    expect(historyCsv("web", [reading, hidden])).toBe(
      [
        "name,number,kind,read_at,last_seen_at,status,currency,per_hour,per_month",
        "web,2,instance,2026-01-01T00:00:00.000Z,2026-01-02T00:00:00.000Z,show,EUR,0.08333333333333333,12345678901234567890.1",
        "web,1,instance,2026-01-01T00:00:00.000Z,2026-01-02T00:00:00.000Z,hide,,,",
        "",
      ].join("\r\n"),
    );
  });

  it("have only heads without readings", () => {
    expect(historyCsv("web", []).split("\r\n")).toHaveLength(2);
  });

  it("show both totals of a change, and a negative number as a number", () => {
    const change = {
      kind: "instance",
      ...{ name: "web", number: 2, readAt: "T2", previousReadAt: "T1" },
      before: reading.total,
      after: { ...reading.total, per_hour: "-1" },
      percent: "-3.10",
      categories: [],
    } as const;

    expect(changesCsv([{ ...change, categories: [] }]).split("\r\n")[1]).toBe(
      "web,instance,2,T2,T1,-3.10,EUR,EUR,0.08333333333333333,-1,12345678901234567890.1,12345678901234567890.1",
    );
  });

  it.each([
    ["a, b", '"a, b"'],
    ['say "no"', '"say ""no"""'],
    ["one\r\ntwo", "one two"],
    ["\u001b[2Jgone", " [2Jgone"],
  ])("quote the text %j", (text, field) => {
    expect(problemOf(text)).toBe(field);
  });

  it.each(["=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", " =1", "＝1", "-", "=cmd|'/c calc'!A0"])(
    "mark the formula %j as text",
    (text) => {
      expect(problemOf(text)).toMatch(/^'/);
    },
  );

  it("quote a formula after its mark", () => {
    expect(problemOf('=HYPERLINK("http://x","y")')).toBe('"\'=HYPERLINK(""http://x"",""y"")"');
  });
});
