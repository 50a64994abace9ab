import type { previewInstancePrice } from "../../contract/instance-price.ts";
import type { Reply } from "../../contract/operation.ts";
import {
  amount,
  type getDdosPrice,
  type getGpuClusterPrice,
  type getK8sClusterPrice,
} from "../../contract/prices.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { decimalText } from "./decimal.ts";
import type { PriceReading } from "./price.ts";

/*
 * How much of a reply is kept, whatever the provider sends. An item of the ledger has room for 400 kB:
 * two readings, and the few events of changes that wait to be published.
 */

/** More parts than these are not told one by one; totals come before parts. */
const MAX_CATEGORIES = 2_000;
const MAX_READING_BYTES = 100_000;

/** More than any price is written with; floating point alone knows numbers of 300. */
const MAX_DIGITS = 40;

/** Names of categories are the provider's: one that is no plain word is none. */
const PLAIN_WORD = /^[\w-]{1,64}$/;

/** Room for two long words in each other; it also ends the way down into a reply without end. */
const MAX_NAME_CHARACTERS = 150;

type Category = readonly [name: string, amount: string | null];
type ItemPrice = Reply<typeof getGpuClusterPrice>;

/**
 * An amount of a reply, or of a part of it that may be absent.
 * @throws ProviderError when no price is as long
 */
const textOf = (value: unknown): string | null => {
  const read = amount.safeParse(value).data;
  if (read === undefined || read === null) return null;
  const written = typeof read === "number" ? decimalText(read) : read;
  if (written.replaceAll(/\D/g, "").length > MAX_DIGITS) {
    throw new ProviderError({
      disposition: "contract",
      code: "reply-unexpected",
      message: `the reply has an amount of more than ${MAX_DIGITS} digits`,
    });
  }
  return decimalText(written);
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every amount of a nested object by its path; the provider may add categories at any time. */
const amountsIn = (path: string, value: unknown): readonly Category[] => {
  if (path.length > MAX_NAME_CHARACTERS) return [];
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, inner]) =>
      PLAIN_WORD.test(name) ? amountsIn(`${path}.${name}`, inner) : [],
    );
  }
  return amount.safeParse(value).success ? [[path, textOf(value)]] : [];
};

const pricesOf = (path: string, price: ItemPrice): readonly Category[] => [
  [`${path}.per_hour`, textOf(price.price_per_hour)],
  [`${path}.per_month`, textOf(price.price_per_month)],
  [`${path}.per_month_without_discount`, textOf(price.price_without_discount_per_month)],
];

const totalOf = (price: ItemPrice): readonly Category[] => [
  ...pricesOf("total", price),
  ["discount_percent", textOf(price.discount_percent)],
  ["tax_percent", textOf(price.tax_percent)],
];

/** The first categories, as many as a reading has room for. Names and amounts are plain ASCII. */
const kept = (categories: readonly Category[]): readonly Category[] => {
  let bytes = 0;
  const end = categories.findIndex((category, index) => {
    bytes += JSON.stringify(category).length;
    return index >= MAX_CATEGORIES || bytes > MAX_READING_BYTES;
  });
  return end === -1 ? categories : categories.slice(0, end);
};

const readingOf = (
  status: PriceReading["status"],
  currency: string | null,
  categories: readonly Category[],
): PriceReading => ({
  status,
  currency,
  amounts: Object.fromEntries(kept(categories)),
});

const ofItemPrice = (price: ItemPrice, parts: readonly Category[] = []): PriceReading =>
  readingOf(price.price_status, price.currency_code, [...totalOf(price), ...parts]);

const partsOf = (path: string, prices: readonly ItemPrice[]): readonly Category[] =>
  prices.flatMap((price, index) => pricesOf(`${path}.${index}`, price));

/** What an order of instances would cost: totals, and each category by hour and month. */
export const instanceReading = (reply: Reply<typeof previewInstancePrice>): PriceReading =>
  readingOf(reply.price_status, reply.currency_code, [
    ["total.per_hour", textOf(reply.total_price_per_hour)],
    ["total.per_month", textOf(reply.total_price_per_month)],
    ["total.per_month_without_discount", textOf(reply.price_without_discount_per_month)],
    ["discount_percent", textOf(reply.discount_percent)],
    ["tax_percent", textOf(reply.tax_percent)],
    ...amountsIn("per_hour", reply.per_hour),
    ...amountsIn("per_month", reply.per_month),
    ...amountsIn("per_gb", reply.per_gb ?? {}),
  ]);

/** What a Kubernetes cluster costs: the total, and each of its parts by its place in the reply. */
export const k8sClusterReading = (reply: Reply<typeof getK8sClusterPrice>): PriceReading =>
  ofItemPrice(reply.total_price, [
    ...partsOf("instances", reply.instances),
    ...partsOf("volumes", reply.volumes),
    ...partsOf("publicips", reply.publicips),
  ]);

/** What a server of a GPU cluster costs, which has a total only. */
export const gpuClusterReading = (reply: ItemPrice): PriceReading => ofItemPrice(reply);

/** What DDoS protection costs. Of the reply's days nothing is kept: they change with the date. */
export const ddosReading = ({ price }: Reply<typeof getDdosPrice>): PriceReading =>
  readingOf("show", price.price_currency, [
    ["price_per_hour", textOf(price.price_per_hour)],
    ["price_per_day", textOf(price.price_per_day)],
    ["price_per_30d", textOf(price.price_per_30d)],
    ["unit_size", textOf(price.unit_size)],
  ]);
