import Big from "big.js";
import type { PriceTotal } from "../jobs/prices/change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "../jobs/prices/memory.ts";
import type { Columns, Row } from "./layout.ts";
import { tableRows, tableText, visibleText } from "./render.ts";
import { sparkline } from "./sparkline.ts";

/** Categories listed below one change; further ones are counted. */
const MAX_CATEGORIES = 8;

/** A time to the second, because runs are minutes apart. */
const timeText = (iso: string): string => iso.replace(/\.\d+Z$/, "Z");

const amountText = (amount: string | null): string => amount ?? "-";

/** `before → after`, or one amount if they are equal. */
const stepText = (before: string | null, after: string | null): string =>
  before === after ? amountText(after) : [before, after].map(amountText).join(" → ");

const TOTAL_HEADS = ["hour", "month", "currency"];

const totalCells = ({ per_hour, per_month, currency }: PriceTotal): Row =>
  [per_hour, per_month, currency].map(amountText);

/** The result of the last run. A price was last seen in it, unless it failed. */
const runText = ({ outcome, problem, bucket }: PriceView["lastRun"]): string =>
  problem === null ? outcome : `${outcome} at ${timeText(bucket)}: ${problem}`;

/** A line for each watched item: its latest price and the result of its last run. */
export const priceListText = (prices: readonly PriceView[], columns?: Columns): string => {
  if (prices.length === 0) return "no prices yet";
  const rows = prices.map(({ name, kind, latest, lastRun }) => [
    name,
    kind,
    ...(latest
      ? [...totalCells(latest.total), latest.status, timeText(latest.lastSeenAt)]
      : ["-", "-", "-", "-", "-"]),
    runText(lastRun),
  ]);
  const heads = ["name", "kind", ...TOTAL_HEADS, "status", "last seen", "last run"];
  return tableText(heads, rows, columns);
};

const UNITS = { per_month: "a month", per_hour: "an hour" } as const;

/** The prices of the newest currency as a line of blocks, with their range; empty without two readings. */
const chartLines = (readings: readonly ReadingView[], columns: number): readonly string[] => {
  const [newest] = readings;
  const shown = readings.find(({ status }) => status === "show")?.total;
  const unit = shown && (shown.per_month === null ? "per_hour" : "per_month");
  if (!newest || !unit || readings.length < 2) return [];
  const amountOf = ({ status, total }: ReadingView): string | null =>
    status === "show" && total.currency === shown.currency ? total[unit] : null;
  const amounts = readings.flatMap((reading) => amountOf(reading) ?? []);
  const [low, ...others] = amounts.toSorted((a, b) => Big(a).cmp(b));
  if (low === undefined) return [];
  const steps = readings.toReversed().map((reading) => {
    const amount = amountOf(reading);
    return { at: Date.parse(reading.readAt), value: amount === null ? undefined : Number(amount) };
  });
  const range = `lowest ${low}, highest ${others.at(-1) ?? low}`;
  return [
    sparkline(steps, Date.parse(newest.lastSeenAt), columns),
    visibleText(`${range} ${shown.currency ?? ""} ${UNITS[unit]}`.replaceAll("  ", " ")),
    "",
  ];
};

/**
 * A line for each stored reading, in the given order.
 * @param isDrawn whether a line of blocks over time precedes them; never without a terminal
 */
export const priceHistoryText = (
  readings: readonly ReadingView[],
  columns?: Columns,
  isDrawn = false,
): string => {
  if (readings.length === 0) return "no readings yet";
  const rows = readings.map(({ number, readAt, lastSeenAt, total, status }) => [
    String(number),
    timeText(readAt),
    timeText(lastSeenAt),
    ...totalCells(total),
    status,
  ]);
  const heads = ["no.", "read", "last seen", ...TOTAL_HEADS, "status"];
  const chart = isDrawn && columns !== undefined ? chartLines(readings, columns) : [];
  return [...chart, tableText(heads, rows, columns)].join("\n");
};

const categoryLines = ({ categories }: PriceChangeView): readonly string[] => {
  const more = categories.length - MAX_CATEGORIES;
  return [
    ...categories
      .slice(0, MAX_CATEGORIES)
      .map(({ category, before, after }) =>
        visibleText(`    ${category}: ${stepText(before, after)}`),
      ),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
};

/** A line for each change, with the changed categories below. */
export const priceChangesText = (
  changes: readonly PriceChangeView[],
  columns?: Columns,
): string => {
  if (changes.length === 0) return "no changes";
  const rows = changes.map(({ readAt, name, percent, before, after }) => [
    timeText(readAt),
    name,
    percent === null ? "-" : `${percent} %`,
    stepText(before.per_hour, after.per_hour),
    stepText(before.per_month, after.per_month),
    stepText(before.currency, after.currency),
  ]);
  const heads = ["read", "name", "change", ...TOTAL_HEADS];
  const [headLine = "", ...entries] = tableRows(heads, rows, columns);
  const withCategories = entries.flatMap((entry, index) => {
    const change = changes[index];
    return change ? [entry, ...categoryLines(change)] : [entry];
  });
  return [headLine, ...withCategories].join("\n");
};
