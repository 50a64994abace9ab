import Big from "big.js";
import type { PriceReading } from "./price.ts";

/** Divides to one digit more than is kept and cuts off the rest, so that a result is rounded only once. */
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

/** Total of a reading. A daily price counts 30 days a month, because the provider's month has 720 hours. */
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

/** Change from one reading to a later one; undefined when the prices are equal. */
export const changeOf = (before: PriceReading, after: PriceReading) => {
  const categories = categoryChanges(before, after);
  if (categories.length === 0 && before.currency === after.currency) return undefined;
  const from = totalOf(before);
  const to = totalOf(after);
  return { before: from, after: to, percent: percentOf(from, to), categories };
};

/** Difference of two readings. */
export type PriceChange = NonNullable<ReturnType<typeof changeOf>>;

/** Whether both readings have the same status, currency and amounts. */
export const isSameReading = (one: PriceReading, other: PriceReading): boolean =>
  one.status === other.status && changeOf(one, other) === undefined;
