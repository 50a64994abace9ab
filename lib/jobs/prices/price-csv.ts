import type { PriceTotal } from "./change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "./memory.ts";

/*
 * Prices as CSV (RFC 4180) for spreadsheets: a line of heads, then a line for each entry in the given order.
 * Amounts are exact decimals, instants ISO 8601, and a value that the provider left out is empty.
 */

/** Characters that control a terminal or break a line. No price needs them. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
/** Beginnings that a spreadsheet takes for a formula (OWASP, "CSV Injection"), in both widths. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

type Value = string | number | null;

const fieldOf = (value: Value): string => {
  const text = String(value ?? "").replaceAll(CONTROL, " ");
  // An apostrophe makes a spreadsheet show the text instead of calculating it.
  const safe = FORMULA.test(text) && !DECIMAL.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const csvOf = (heads: readonly string[], rows: readonly (readonly Value[])[]): string =>
  [heads, ...rows].map((row) => `${row.map(fieldOf).join(",")}\r\n`).join("");

const TOTAL = ["currency", "per_hour", "per_month"] as const;
const NO_TOTAL: PriceTotal = { currency: null, per_hour: null, per_month: null };

const totalFields = (total: PriceTotal): readonly Value[] => TOTAL.map((name) => total[name]);

/** A line for each stored reading of one name. */
export const historyCsv = (name: string, readings: readonly ReadingView[]): string =>
  csvOf(
    ["name", "number", "kind", "read_at", "last_seen_at", "status", ...TOTAL],
    readings.map(({ number, kind, readAt, lastSeenAt, status, total }) => [
      ...[name, number, kind, readAt, lastSeenAt, status],
      ...totalFields(total),
    ]),
  );

/** A line for each watched item. */
export const priceListCsv = (prices: readonly PriceView[]): string =>
  csvOf(
    [
      ...["name", "kind", "read_at", "last_seen_at", "status", ...TOTAL],
      ...["last_run", "outcome", "problem"],
    ],
    prices.map(({ name, kind, latest, lastRun }) => [
      ...[name, kind],
      ...[latest?.readAt ?? null, latest?.lastSeenAt ?? null, latest?.status ?? null],
      ...totalFields(latest?.total ?? NO_TOTAL),
      ...[lastRun.bucket, lastRun.outcome, lastRun.problem],
    ]),
  );

/** A line for each change, without its categories. */
export const changesCsv = (changes: readonly PriceChangeView[]): string =>
  csvOf(
    [
      ...["name", "kind", "number", "read_at", "previous_read_at", "percent"],
      ...TOTAL.flatMap((field) => [`${field}_before`, `${field}_after`]),
    ],
    changes.map(({ name, kind, number, readAt, previousReadAt, percent, before, after }) => [
      ...[name, kind, number, readAt, previousReadAt, percent],
      ...TOTAL.flatMap((field) => [before[field], after[field]]),
    ]),
  );
