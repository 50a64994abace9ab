import * as z from "zod";
import { lazy } from "./lazy.ts";
import { read } from "./operation.ts";
import {
  nothing,
  pathInteger,
  pathText,
  projectAndRegion,
  projectAndRegionInt64,
  uuid,
} from "./values.ts";

export const CURRENCIES = ["AZN", "EUR", "USD"] as const;
export const PRICE_STATUSES = ["error", "hide", "show"] as const;

/** An amount of money. Published samples contain some as decimal text. */
export const amount = lazy(() =>
  z.union([z.number(), z.string().regex(/^-?\d+(\.\d+)?$/)]).nullable(),
);

/** A number on the wire. `parseMoneyJson` returns it as text if floating point would round it. */
export const percentage = lazy(() =>
  z
    .union([z.number(), z.string().regex(/^-?\d+\.\d{13,}$/, { error: "a number" })])
    .meta({ type: "number" }),
);

/** One price. Here `discount_percent` is a fraction of 1; in E6 it is a percentage. */
const itemPriceSchema = lazy(() =>
  z
    .looseObject({
      currency_code: z.enum(CURRENCIES).nullable(),
      discount_percent: percentage().nullable().describe("fraction, such as 0.105 for 10.5 %"),
      price_per_hour: amount().describe("with discount and tax"),
      price_per_month: amount().describe("with discount and tax"),
      price_status: z.enum(PRICE_STATUSES),
      price_without_discount_per_month: amount().describe("with tax"),
      tax_percent: percentage(),
    })
    .meta({ id: "ItemPrice" }),
);

export const getK8sClusterPrice = read({
  id: "get-k8s-cluster-price",
  reference: "E7",
  summary: "Read the price of a Kubernetes cluster",
  path: "/cloud/v2/pricing/{project_id}/{region_id}/k8s/clusters/{cluster_name}",
  schemas: () => ({
    params: z.strictObject({
      ...projectAndRegion(),
      cluster_name: pathText().describe("name of the cluster; must not be . or .."),
    }),
    query: nothing(),
    response: z.looseObject({
      instances: z.array(itemPriceSchema()),
      publicips: z.array(itemPriceSchema()),
      total_price: itemPriceSchema(),
      volumes: z.array(itemPriceSchema()),
    }),
  }),
  hasPrices: true,
});

export const getGpuClusterPrice = read({
  id: "get-gpu-cluster-price",
  reference: "E12",
  summary: "Read the price of a GPU cluster server",
  path: "/cloud/v1/pricing/{project_id}/{region_id}/ai/clusters/{server_id}",
  schemas: () => ({
    params: z.strictObject({
      ...projectAndRegionInt64(),
      server_id: uuid().describe("id of the server"),
    }),
    query: nothing(),
    response: itemPriceSchema(),
  }),
  hasPrices: true,
});

/** Any three capital letters: earlier revisions of the interface listed about 170 currencies. */
const currencyCode = lazy(() => z.string().regex(/^[A-Z]{3}$/));

export const getDdosPrice = read({
  id: "get-ddos-price",
  reference: "E9",
  summary: "Read the price of DDoS protection in a region",
  path: "/cloud/v1/pricing/{region_id}/ddos",
  schemas: () => ({
    params: z.strictObject({ region_id: pathInteger().describe("id of the region") }),
    query: nothing(),
    response: z.looseObject({
      current_month_days: z.int(),
      current_month_days_last: z.int().describe("days left in the current month"),
      next_month_days: z.int(),
      price: z.looseObject({
        feature_name: z.string(),
        period: z.string(),
        price_currency: currencyCode(),
        unit_name: z.string(),
        unit_size: z.int(),
        price_per_30d: amount().optional(),
        price_per_day: amount().optional(),
        price_per_hour: amount().optional(),
      }),
    }),
  }),
  hasPrices: true,
});
