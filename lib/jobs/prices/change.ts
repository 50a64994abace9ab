import { percentChange } from "./decimal.ts";
import type { PriceReading } from "./price.ts";
import type { PriceChange, PriceTotal } from "./views.ts";

type CategoryChange = PriceChange["categories"][number];

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

const categoryChanges = (before: PriceReading, after: PriceReading): CategoryChange[] => {
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
