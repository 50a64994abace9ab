import type { PriceReading } from "../ledger/price.ts";
import { percentChange } from "./decimal.ts";

/** The headline of a reading; amounts are decimal text. */
export interface PriceTotal {
  readonly currency: string | null;
  readonly per_hour: string | null;
  readonly per_month: string | null;
}

/** One category that is not what it was; null where there is, or was, none. */
interface CategoryChange {
  readonly category: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface PriceChange {
  readonly before: PriceTotal;
  readonly after: PriceTotal;
  /** Of the monthly total, such as `12.50` or `-3.10`; null where there is nothing to compare. */
  readonly percent: string | null;
  /** In the order of the earlier reading, then what is new in the later one. */
  readonly categories: readonly CategoryChange[];
}

/** The total of a reading. What is priced by the day has 30 of them in a month, as a month has 720 hours. */
export const totalOf = ({ currency, amounts }: PriceReading): PriceTotal => ({
  currency,
  per_hour: amounts["total.per_hour"] ?? amounts.price_per_hour ?? null,
  per_month: amounts["total.per_month"] ?? amounts.price_per_30d ?? null,
});

const percentOf = (before: PriceTotal, after: PriceTotal): string | null => {
  if (before.currency !== after.currency) return null;
  const pairs = [
    [before.per_month, after.per_month],
    [before.per_hour, after.per_hour],
  ] as const;
  for (const [from, to] of pairs) {
    if (from !== null && to !== null) return percentChange(from, to);
  }
  return null;
};

const categoryChanges = (before: PriceReading, after: PriceReading): readonly CategoryChange[] => {
  const names = new Set([...Object.keys(before.amounts), ...Object.keys(after.amounts)]);
  return [...names].flatMap((category) => {
    const from = before.amounts[category] ?? null;
    const to = after.amounts[category] ?? null;
    return from === to ? [] : [{ category, before: from, after: to }];
  });
};

/** What changed from one reading to a later one; undefined when the prices are the same. */
export const changeOf = (before: PriceReading, after: PriceReading): PriceChange | undefined => {
  const categories = categoryChanges(before, after);
  if (categories.length === 0 && before.currency === after.currency) return undefined;
  const from = totalOf(before);
  const to = totalOf(after);
  return { before: from, after: to, percent: percentOf(from, to), categories };
};

/** Whether a reading says nothing that another one has not said. */
export const isSameReading = (one: PriceReading, other: PriceReading): boolean =>
  one.status === other.status && changeOf(one, other) === undefined;
