import Big from "big.js";
import type { PriceReading } from "./price.ts";

/** Divides to one digit more than is kept, cut off and not rounded, so that nothing is rounded twice. */
const Quotient = Big();
Quotient.DP = 3;
Quotient.RM = Big.roundDown;

const PERCENT_PLACES = 2;

/** The change in percent, rounded half up to two places: `12.50`, `-3.10`. Null when `before` is zero. */
export const percentChange = (before: string, after: string): string | null => {
  const from = Quotient(before);
  if (from.eq(0)) return null;
  const percent = Quotient(after).minus(from).times(100).div(from.abs());
  return percent.round(PERCENT_PLACES, Big.roundHalfUp).toFixed(PERCENT_PLACES);
};

/** The total of a reading. What is priced by the day has 30 of them in a month, as a month has 720 hours. */
export const totalOf = ({ currency, amounts }: PriceReading) => ({
  currency,
  per_hour: amounts["total.per_hour"] ?? amounts.price_per_hour ?? null,
  per_month: amounts["total.per_month"] ?? amounts.price_per_30d ?? null,
});

export type PriceTotal = ReturnType<typeof totalOf>;

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

const categoryChanges = (before: PriceReading, after: PriceReading) => {
  const names = new Set([...Object.keys(before.amounts), ...Object.keys(after.amounts)]);
  return [...names].flatMap((category) => {
    const from = before.amounts[category] ?? null;
    const to = after.amounts[category] ?? null;
    return from === to ? [] : [{ category, before: from, after: to }];
  });
};

/** What changed from one reading to a later one; undefined when the prices are the same. */
export const changeOf = (before: PriceReading, after: PriceReading) => {
  const categories = categoryChanges(before, after);
  if (categories.length === 0 && before.currency === after.currency) return undefined;
  const from = totalOf(before);
  const to = totalOf(after);
  return { before: from, after: to, percent: percentOf(from, to), categories };
};

/** The difference of two readings. */
export type PriceChange = NonNullable<ReturnType<typeof changeOf>>;

/** Whether both readings say the same. */
export const isSameReading = (one: PriceReading, other: PriceReading): boolean =>
  one.status === other.status && changeOf(one, other) === undefined;
