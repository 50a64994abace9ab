import * as z from "zod";
import { CURRENCIES, PRICE_STATUSES } from "../../contract/prices.ts";
import { projectAndRegion, timestamp, uuid } from "../../contract/values.ts";

const price = z.number().min(0);
const percent = z.number().min(0).max(100);

/**
 * What things cost in a region, before discount and tax; a region is a place that has a price list.
 * A list with a later `starts_at` takes the place of the earlier ones from that instant on.
 */
export const priceListRecord = z.strictObject({
  region_id: z.int(),
  region: z.string(),
  /** Null: since ever. */
  starts_at: timestamp.nullable().default(null),
  currency_code: z.enum(CURRENCIES).nullable(),
  price_status: z.enum(PRICE_STATUSES),
  tax_percent: percent,
  discount_percent: percent,
  /** Per hour, by flavor name; instances, cluster nodes and GPU servers alike. */
  flavors: z.record(z.string(), price),
  /** Per GiB and hour, by volume type. */
  volume_types: z.record(z.string(), price),
  /** Per hour. */
  external_ip: price,
  floating_ip: price,
  /** Per GB. */
  egress_traffic_baremetal: price.nullable(),
  ddos: z.strictObject({
    feature_name: z.string(),
    unit_name: z.string(),
    unit_size: z.int(),
    price_currency: z.enum(CURRENCIES),
    price_per_day: price,
  }),
});

const parts = {
  volumes: z.array(z.strictObject({ type_name: z.string(), size: z.int().min(1) })),
  public_ips: z.int().min(0),
};

/** A Kubernetes cluster as far as its price goes. */
export const k8sClusterRecord = z.strictObject({
  ...projectAndRegion,
  name: z.string(),
  /** Flavor of each node. */
  nodes: z.array(z.string()),
  ...parts,
});

/** One server of a GPU cluster as far as its price goes. */
export const gpuClusterRecord = z.strictObject({
  ...projectAndRegion,
  server_id: uuid,
  name: z.string(),
  flavor: z.string(),
  ...parts,
});
