import * as z from "zod";
import { PRICE_STATUSES } from "../../contract/prices.ts";
import { PRICE_KINDS, PRICE_OUTCOMES } from "./price.ts";

/*
 * What people and scripts see of prices. Plain JSON: amounts are decimal text, instants ISO 8601, and
 * what there is not is null.
 */

const amount = z.string().nullable();

/** The headline of a reading. */
const totalSchema = z.object({ currency: amount, per_hour: amount, per_month: amount });

/** One stored reading. */
export const readingViewSchema = z.object({
  number: z.int(),
  kind: z.enum(PRICE_KINDS),
  readAt: z.string(),
  /** When the provider last said the same. */
  lastSeenAt: z.string(),
  status: z.enum(PRICE_STATUSES),
  total: totalSchema,
  amounts: z.record(z.string(), amount),
});

/** What is watched under a name, or was. */
export const priceViewSchema = z.object({
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  /** Null until there was one of what is asked now. */
  latest: readingViewSchema.omit({ amounts: true }).nullable(),
  lastRun: z.object({
    bucket: z.string(),
    outcome: z.enum(PRICE_OUTCOMES),
    problem: z.string().nullable(),
  }),
});

/** One price that was shown, and was another one than the last that had been. */
export const priceChangeViewSchema = z.object({
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  number: z.int(),
  readAt: z.string(),
  previousReadAt: z.string(),
  before: totalSchema,
  after: totalSchema,
  /** Of the monthly total, such as `12.50` or `-3.10`; null where there is nothing to compare. */
  percent: z.string().nullable(),
  categories: z.array(z.object({ category: z.string(), before: amount, after: amount })),
});

export type PriceTotal = z.output<typeof totalSchema>;
export type ReadingView = z.output<typeof readingViewSchema>;
export type PriceView = z.output<typeof priceViewSchema>;
export type PriceChangeView = z.output<typeof priceChangeViewSchema>;
/** What became of a price between two readings. */
export type PriceChange = Pick<PriceChangeView, "before" | "after" | "percent" | "categories">;
