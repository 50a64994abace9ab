import Big from "big.js";
import * as z from "zod";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { listPrices, type PriceView } from "./memory.ts";
import { priceRunKey, priceRuns } from "./price.ts";

const sumSchema = z.object({
  /** Exact decimal text. */
  amount: z.string(),
  /** Items that have this amount. */
  items: z.int(),
});

/** Sums of the current prices. Plain JSON, like the views of `memory.ts`. */
export const priceTotalsSchema = z.object({
  /** Start of the period that the sums belong to; null before the first run. */
  bucket: z.string().nullable(),
  /** One entry for each currency, by name; null: items without a currency. */
  totals: z.array(
    z.object({
      currency: z.string().nullable(),
      per_hour: sumSchema,
      per_month: sumSchema,
    }),
  ),
  /** Items that no sum contains. `removed`: not in the last run, so no longer on the watchlist. */
  leftOut: z.array(z.object({ name: z.string(), why: z.enum(["removed", "no-price"]) })),
});

export type PriceTotals = z.output<typeof priceTotalsSchema>;
type Unit = "per_hour" | "per_month";

/**
 * The oldest period of a current item. Items of a run that has not ended still have the period before it.
 * @returns undefined without items
 */
const oldestCurrent = async (
  ledger: Ledger,
  account: string,
  prices: readonly PriceView[],
): Promise<string | undefined> => {
  const buckets = [...new Set(prices.map(({ lastRun }) => lastRun.bucket))].toSorted();
  const newest = buckets.at(-1);
  if (newest === undefined) return undefined;
  const hasEnded = (await priceRuns.read(ledger, priceRunKey(account, newest))) !== undefined;
  return hasEnded ? newest : (buckets.at(-2) ?? newest);
};

const sumOf = (prices: readonly PriceView[], unit: Unit) => {
  const amounts = prices.flatMap(({ latest }) => latest?.total[unit] ?? []);
  const sum = amounts.reduce((total, amount) => total.plus(amount), Big(0));
  return { amount: sum.toFixed(), items: amounts.length };
};

/** An amount that the provider shows; a hidden price is none. */
const hasPrice = ({ latest }: PriceView): boolean =>
  latest?.status === "show" && (latest.total.per_hour ?? latest.total.per_month) !== null;

/** Adds up the current prices of the watchlist, by currency, without rounding. */
export const priceTotals = async (ledger: Ledger, account: string): Promise<PriceTotals> => {
  const prices = await listPrices(ledger, account);
  const since = await oldestCurrent(ledger, account, prices);
  const isCurrent = ({ lastRun }: PriceView): boolean =>
    since !== undefined && lastRun.bucket >= since;
  const counted = prices.filter((price) => isCurrent(price) && hasPrice(price));
  const currencies = [...new Set(counted.map(({ latest }) => latest?.total.currency ?? null))];
  return {
    bucket: since ?? null,
    totals: currencies.toSorted().map((currency) => {
      const own = counted.filter(({ latest }) => (latest?.total.currency ?? null) === currency);
      return {
        currency,
        per_hour: sumOf(own, "per_hour"),
        per_month: sumOf(own, "per_month"),
      };
    }),
    leftOut: prices
      .filter((price) => !counted.includes(price))
      .map((price) => ({ name: price.name, why: isCurrent(price) ? "no-price" : "removed" })),
  };
};
