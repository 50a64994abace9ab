import { createHash } from "node:crypto";
import Big from "big.js";
import { previewInstancePrice } from "../../contract/instance-price.ts";
import { formatWireJson } from "../../contract/json.ts";
import type { Reply } from "../../contract/operation.ts";
import {
  amount,
  getDdosPrice,
  getGpuClusterPrice,
  getK8sClusterPrice,
} from "../../contract/prices.ts";
import type { Client } from "../../provider/client.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import type { PriceReading } from "./price.ts";
import type { PriceOrder } from "./watchlist.ts";

/*
 * Limits of a stored reading. A ledger item of 400 kB has room for two readings and a few unpublished
 * events.
 */

/** Maximum categories of one reading. Totals come first, so they are kept. */
const MAX_CATEGORIES = 2_000;
const MAX_READING_BYTES = 100_000;

/**
 * Canonical text of a decimal number: no exponent, no superfluous zeros. For a floating-point number it is
 * the shortest text that represents it, which is the one that the provider sent.
 * @param value a finite number or decimal text
 */
export const decimalText = (value: number | string): string => Big(String(value)).toFixed();

/** Maximum digits of an amount. No price has more, but a floating-point number can have 300. */
const MAX_DIGITS = 40;

/** Category names that are kept. The provider chooses them; others are left out. */
const PLAIN_WORD = /^[\w-]{1,64}$/;

/** Maximum length of a category's path: room for two long nested names. Also bounds the depth of a reply. */
const MAX_NAME_CHARACTERS = 150;

type Category = readonly [name: string, amount: string | null];
type ItemPrice = Reply<typeof getGpuClusterPrice>;

/**
 * Decimal text of an amount in a reply; null when it is absent or no amount.
 * @throws ProviderError when it has more digits than a price
 */
const textOf = (value: unknown): string | null => {
  const read = amount().safeParse(value).data;
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

/** Every amount of a nested object by its path. The provider may add categories at any time. */
const amountsIn = (path: string, value: unknown): readonly Category[] => {
  if (path.length > MAX_NAME_CHARACTERS) return [];
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, inner]) =>
      PLAIN_WORD.test(name) ? amountsIn(`${path}.${name}`, inner) : [],
    );
  }
  return amount().safeParse(value).success ? [[path, textOf(value)]] : [];
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

/** First categories, as many as a reading has room for. One character is one byte: all are ASCII. */
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

/** Reading of an order of instances: totals, and each category by hour and month. */
const instanceReading = (reply: Reply<typeof previewInstancePrice>): PriceReading =>
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

/** Reading of a Kubernetes cluster: the total, and each part by its position in the reply. */
export const k8sClusterReading = (reply: Reply<typeof getK8sClusterPrice>): PriceReading =>
  ofItemPrice(reply.total_price, [
    ...partsOf("instances", reply.instances),
    ...partsOf("volumes", reply.volumes),
    ...partsOf("publicips", reply.publicips),
  ]);

/** Reading of a GPU cluster's server, which has a total only. */
const gpuClusterReading = (reply: ItemPrice): PriceReading => ofItemPrice(reply);

/** Reading of DDoS protection. The reply's days are left out, because they change with the date. */
const ddosReading = ({ price }: Reply<typeof getDdosPrice>): PriceReading =>
  readingOf("show", price.price_currency, [
    ["price_per_hour", textOf(price.price_per_hour)],
    ["price_per_day", textOf(price.price_per_day)],
    ["price_per_30d", textOf(price.price_per_30d)],
    ["unit_size", textOf(price.unit_size)],
  ]);

/** SHA-256 of an order, in hex; equal for equal orders in any notation. */
export const fingerprintOf = (order: PriceOrder): string =>
  createHash("sha256").update(formatWireJson(order)).digest("hex");

/** Asks the provider for one price. @throws ProviderError when it gives none */
export const askPrice = async (client: Client, order: PriceOrder): Promise<PriceReading> => {
  const nothing = { query: {}, body: undefined };
  switch (order.kind) {
    case "instance": {
      const { params, body } = order;
      return instanceReading(await client.call(previewInstancePrice, { params, query: {}, body }));
    }
    case "k8s_cluster": {
      const { params } = order;
      return k8sClusterReading(await client.call(getK8sClusterPrice, { params, ...nothing }));
    }
    case "gpu_cluster": {
      const { params } = order;
      return gpuClusterReading(await client.call(getGpuClusterPrice, { params, ...nothing }));
    }
    case "ddos": {
      const { params } = order;
      return ddosReading(await client.call(getDdosPrice, { params, ...nothing }));
    }
    default:
      return order satisfies never;
  }
};
