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
 * Limits of what is kept of a reply. A ledger item has room for 400 kB: two readings, and the few events
 * of changes that wait to be published.
 */

/** Totals come before parts, and so are kept. */
const MAX_CATEGORIES = 2_000;
const MAX_READING_BYTES = 100_000;

/**
 * The one text of a decimal number: no exponent, no zeros at its ends. Of a floating-point number that
 * is the shortest text that stands for it, which is the one that was sent.
 * @param value a finite number or decimal text
 */
export const decimalText = (value: number | string): string => Big(String(value)).toFixed();

/** More than any price has; only floating point has numbers of 300. */
const MAX_DIGITS = 40;

/** The provider names the categories; one with another name is left out. */
const PLAIN_WORD = /^[\w-]{1,64}$/;

/** Room for two long nested names; also bounds the depth of a reply. */
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

/** What a Kubernetes cluster costs: the total, and each of its parts by its place in the reply. */
export const k8sClusterReading = (reply: Reply<typeof getK8sClusterPrice>): PriceReading =>
  ofItemPrice(reply.total_price, [
    ...partsOf("instances", reply.instances),
    ...partsOf("volumes", reply.volumes),
    ...partsOf("publicips", reply.publicips),
  ]);

/** What a server of a GPU cluster costs, which has a total only. */
const gpuClusterReading = (reply: ItemPrice): PriceReading => ofItemPrice(reply);

/** What DDoS protection costs. The reply's days are left out: they change with the date. */
const ddosReading = ({ price }: Reply<typeof getDdosPrice>): PriceReading =>
  readingOf("show", price.price_currency, [
    ["price_per_hour", textOf(price.price_per_hour)],
    ["price_per_day", textOf(price.price_per_day)],
    ["price_per_30d", textOf(price.price_per_30d)],
    ["unit_size", textOf(price.unit_size)],
  ]);

/** Digest of an order; equal for equal orders, however a file writes them. */
export const fingerprintOf = (order: PriceOrder): string =>
  createHash("sha256").update(formatWireJson(order)).digest("hex");

/** Asks the provider for one price. @throws ProviderError when there is none */
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
