import type { PriceTotal } from "../jobs/prices/change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "../jobs/prices/memory.ts";
import { type Row, tableText } from "./table-text.ts";
import { visibleText } from "./visible-text.ts";

/** More changed categories of one price than these are only counted. */
const MAX_CATEGORIES_TOLD = 8;

/** To the second; runs are minutes apart. */
const timeText = (iso: string): string => iso.replace(/\.\d+Z$/, "Z");

const amountText = (amount: string | null): string => amount ?? "-";

/** What an amount became; one that is the same is said once. */
const stepText = (before: string | null, after: string | null): string =>
  before === after ? amountText(after) : [before, after].map(amountText).join(" → ");

const totalCells = ({ per_hour, per_month, currency }: PriceTotal): Row =>
  [per_hour, per_month, currency].map(amountText);

const runText = ({ outcome, problem }: PriceView["lastRun"]): string =>
  problem === null ? outcome : `${outcome}: ${problem}`;

/** What is watched, a line for each name, with the latest price and how the last run ended. */
export const priceListText = (prices: readonly PriceView[]): string => {
  if (prices.length === 0) return "no prices yet";
  const rows = prices.map(({ name, kind, latest, lastRun }) => [
    name,
    kind,
    ...(latest
      ? [...totalCells(latest.total), latest.status, timeText(latest.lastSeenAt)]
      : ["-", "-", "-", "-", "-"]),
    timeText(lastRun.bucket),
    runText(lastRun),
  ]);
  const heads = ["name", "kind", "hour", "month", "currency", "status", "last seen", "run", ""];
  return tableText(heads, rows);
};

/** Every stored reading of one name, a line for each, in the order given. */
export const priceHistoryText = (readings: readonly ReadingView[]): string => {
  if (readings.length === 0) return "no readings yet";
  const rows = readings.map(({ number, readAt, lastSeenAt, total, status }) => [
    String(number),
    timeText(readAt),
    timeText(lastSeenAt),
    ...totalCells(total),
    status,
  ]);
  return tableText(["number", "read", "last seen", "hour", "month", "currency", "status"], rows);
};

const categoryLines = ({ categories }: PriceChangeView): readonly string[] => {
  const more = categories.length - MAX_CATEGORIES_TOLD;
  return [
    ...categories
      .slice(0, MAX_CATEGORIES_TOLD)
      .map(({ category, before, after }) =>
        visibleText(`    ${category}: ${stepText(before, after)}`),
      ),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
};

/** The categories that changed stand below each line. */
export const priceChangesText = (changes: readonly PriceChangeView[]): string => {
  if (changes.length === 0) return "no changes";
  const rows = changes.map(({ readAt, name, percent, before, after }) => [
    timeText(readAt),
    name,
    percent === null ? "-" : `${percent} %`,
    stepText(before.per_hour, after.per_hour),
    stepText(before.per_month, after.per_month),
    stepText(before.currency, after.currency),
  ]);
  const heads = ["read", "name", "change", "hour", "month", "currency"];
  const [headLine = "", ...lines] = tableText(heads, rows).split("\n");
  const entries = lines.flatMap((line, index) => {
    const change = changes[index];
    return change ? [line, ...categoryLines(change)] : [line];
  });
  return [headLine, ...entries].join("\n");
};
