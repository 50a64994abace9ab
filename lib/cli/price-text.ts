import Big from "big.js";
import type { PriceTotal } from "../jobs/prices/change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "../jobs/prices/memory.ts";
import type { Columns } from "./layout.ts";
import { tableRows, visibleText } from "./render.ts";
import { sparkline } from "./sparkline.ts";

/** Categories listed below one change; further ones are counted. */
const MAX_CATEGORIES = 8;

/** A time to the second, because runs are minutes apart. */
const timeText = (iso: string): string => iso.replace(/\.\d+Z$/, "Z");

const amountText = (amount: string | null): string => amount ?? "-";

/** `before → after`, or one amount if they are equal. */
const stepText = (before: string | null, after: string | null): string =>
  before === after ? amountText(after) : [before, after].map(amountText).join(" → ");

/** A column of a table of prices; undefined: left out. */
type Column<T> = readonly [head: string, cell: (view: T) => string] | undefined;

const columnsText = <T>(
  views: readonly T[],
  given: readonly Column<T>[],
  columns: Columns,
): readonly string[] => {
  const shown = given.flatMap((column) => (column ? [column] : []));
  const rows = views.map((view) => shown.map(([, cell]) => cell(view)));
  const heads = shown.map(([head]) => visibleText(head));
  return tableRows(heads, rows, columns);
};

/**
 * The columns of totals. The currency is in the heads, unless the prices have several.
 * @param totalsOf none for an item without a price; two totals for a change
 */
const totalColumns = <T>(
  views: readonly T[],
  totalsOf: (view: T) => readonly PriceTotal[],
): readonly Column<T>[] => {
  const currencies = new Set(views.flatMap(totalsOf).flatMap(({ currency }) => currency ?? []));
  const [only] = currencies.size === 1 ? currencies : [];
  const head = (unit: string): string => (only === undefined ? unit : `${only}/${unit}`);
  const cell = (field: keyof PriceTotal) => (view: T) => {
    const amounts = totalsOf(view).map((total) => total[field]);
    return amounts.length === 0 ? "-" : stepText(amounts[0] ?? null, amounts.at(-1) ?? null);
  };
  return [
    [head("hour"), cell("per_hour")],
    [head("month"), cell("per_month")],
    only === undefined ? ["currency", cell("currency")] : undefined,
  ];
};

type Status = ReadingView["status"] | undefined;

/** Whether the provider showed every price, so that a table needs no column for that. */
const areShown = (statuses: readonly Status[]): boolean =>
  statuses.every((status) => status === undefined || status === "show");

/** The result of the last run. A price was last seen in it, unless it failed. */
const runText = ({ outcome, problem, bucket }: PriceView["lastRun"]): string =>
  problem === null ? outcome : `${outcome} at ${timeText(bucket)}: ${problem}`;

/** A line for each watched item: its latest price and the result of its last run. */
export const priceListText = (prices: readonly PriceView[], columns?: Columns): string => {
  if (prices.length === 0) return "no prices yet";
  const isPlain = areShown(prices.map(({ latest }) => latest?.status));
  const given: readonly Column<PriceView>[] = [
    ["name", ({ name }) => name],
    ["kind", ({ kind }) => kind],
    ...totalColumns(prices, ({ latest }) => (latest ? [latest.total] : [])),
    isPlain ? undefined : ["status", ({ latest }) => latest?.status ?? "-"],
    ["last seen", ({ latest }) => (latest ? timeText(latest.lastSeenAt) : "-")],
    ["last run", ({ lastRun }) => runText(lastRun)],
  ];
  return columnsText(prices, given, columns).join("\n");
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
  const isPlain = areShown(readings.map(({ status }) => status));
  const given: readonly Column<ReadingView>[] = [
    ["no.", ({ number }) => String(number)],
    ["read", ({ readAt }) => timeText(readAt)],
    ["last seen", ({ lastSeenAt }) => timeText(lastSeenAt)],
    ...totalColumns(readings, ({ total }) => [total]),
    isPlain ? undefined : ["status", ({ status }) => status],
  ];
  const chart = isDrawn && columns !== undefined ? chartLines(readings, columns) : [];
  return [...chart, ...columnsText(readings, given, columns)].join("\n");
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
  const given: readonly Column<PriceChangeView>[] = [
    ["read", ({ readAt }) => timeText(readAt)],
    ["name", ({ name }) => name],
    ["change", ({ percent }) => (percent === null ? "-" : `${percent} %`)],
    ...totalColumns(changes, ({ before, after }) => [before, after]),
  ];
  const [headLine = "", ...entries] = columnsText(changes, given, columns);
  const withCategories = entries.flatMap((entry, index) => {
    const change = changes[index];
    return change ? [entry, ...categoryLines(change)] : [entry];
  });
  return [headLine, ...withCategories].join("\n");
};
