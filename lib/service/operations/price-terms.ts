import Big from "big.js";
import type { PriceListRecord } from "../state/state.ts";

/** The provider's month: its published samples multiply an hour by it. */
export const HOURS_PER_MONTH = 720;

/** What an hour costs by the price list; undefined when something in it has no price there. */
export type HourlyPrice = Big | undefined;

/** Money is added up exactly and becomes a JSON number only in the answer. */
export const sumOf = (prices: readonly HourlyPrice[]): HourlyPrice =>
  prices.reduce<HourlyPrice>((sum, price) => price && sum?.plus(price), Big(0));

/** Looks a name up in one of the tables of a price list. */
export const priceOf = (
  table: Readonly<Record<string, number>>,
  name: string,
  times = 1,
): HourlyPrice => (Object.hasOwn(table, name) ? Big(table[name] ?? 0).times(times) : undefined);

const shareOf = (percent: number): Big => Big(percent).div(100);

/** The same hour with the list's tax, and with and without its discount. */
export const applyTerms = (
  perHour: Big,
  { tax_percent, discount_percent }: PriceListRecord,
): { readonly hour: Big; readonly month: Big; readonly monthWithoutDiscount: Big } => {
  const taxed = perHour.times(shareOf(tax_percent).plus(1));
  const hour = taxed.times(Big(1).minus(shareOf(discount_percent)));
  return {
    hour,
    month: hour.times(HOURS_PER_MONTH),
    monthWithoutDiscount: taxed.times(HOURS_PER_MONTH),
  };
};

/** The discount as a share of one, as item prices show it. */
export const discountShare = ({ discount_percent }: PriceListRecord): Big =>
  shareOf(discount_percent);
