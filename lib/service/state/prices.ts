import * as z from "zod";
import { CURRENCIES, PRICE_STATUSES } from "../../contract/prices.ts";
import { projectAndRegion, timestamp, uuid } from "../../contract/values.ts";
import { PROJECT_A, PROJECT_B, REGION_NAMES } from "./fields.ts";

const price = z.number().min(0);
const percent = z.number().min(0).max(100);

/**
 * Prices of a region before discount and tax. A region exists if it has a price list. A list with a later
 * `starts_at` replaces the earlier ones from that instant on.
 */
export const priceListRecord = z.strictObject({
  region_id: z.int(),
  region: z.string(),
  starts_at: timestamp().nullable().default(null),
  currency_code: z.enum(CURRENCIES).nullable(),
  price_status: z.enum(PRICE_STATUSES),
  tax_percent: percent,
  discount_percent: percent,
  /** Per hour, by flavor name, for instances, cluster nodes and GPU servers. */
  flavors: z.record(z.string(), price),
  /** Per GiB and hour, by volume type. */
  volume_types: z.record(z.string(), price),
  /** Per hour and address; `floating_ip` likewise. */
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

export type PriceListRecord = z.output<typeof priceListRecord>;

const { region_id, region: _, starts_at: __, ...amounts } = priceListRecord.shape;

/** Changes of a region's price list. Absent fields keep their values; so do absent flavors and volume types. */
export const priceChangeSchema = z.strictObject({
  region_id,
  /** Beginning of the list; absent for the one in force. */
  starts_at: timestamp().nullable().optional(),
  ...z.strictObject(amounts).partial().shape,
});

export type PriceChange = z.output<typeof priceChangeSchema>;

const parts = {
  volumes: z.array(z.strictObject({ type_name: z.string(), size: z.int().min(1) })),
  public_ips: z.int().min(0),
};

/** The priced parts of a Kubernetes cluster. */
export const k8sClusterRecord = z.strictObject({
  ...projectAndRegion(),
  name: z.string(),
  /** Flavor of each node. */
  nodes: z.array(z.string()),
  ...parts,
});

export type K8sClusterRecord = z.output<typeof k8sClusterRecord>;

/** The priced parts of one server of a GPU cluster. */
export const gpuClusterRecord = z.strictObject({
  ...projectAndRegion(),
  server_id: uuid(),
  name: z.string(),
  flavor: z.string(),
  ...parts,
});

/** Example amounts in the range of the provider's published samples. None is a real price. */
const FLAVORS = {
  "g1-standard-1-2": 0.02,
  "g1-standard-2-4": 0.04,
  "g1-standard-4-8": 0.08,
  "g2-standard-2-4": 0.05,
  "g2-standard-4-8": 0.1,
  "g2-standard-32-64": 0.8,
  "g2s-shared-1-2-25": 0.01,
  "bm1a-hf-1x7950x-128-2x960gb-2x10nic": 0.9,
  "bm3-ai-1xlarge-h100-80-8": 24,
  "g3-ai-32-192-1500-l40s-48-1": 2.1,
  "g3-ai-24-232-1250-h100-80-1": 3.2,
};

const priceList = (
  own: Pick<PriceListRecord, "region_id" | "region"> & Partial<PriceListRecord>,
): PriceListRecord => ({
  starts_at: null,
  currency_code: "EUR",
  price_status: "show",
  tax_percent: 0,
  discount_percent: 0,
  flavors: FLAVORS,
  volume_types: {
    cold: 0.0001083,
    ssd_hiiops: 0.000278,
    ssd_local: 0.0002,
    ssd_lowlatency: 0.000417,
    standard: 0.000139,
    ultra: 0.0005,
  },
  external_ip: 0.02,
  floating_ip: 0.05,
  egress_traffic_baremetal: 0.05,
  ddos: {
    feature_name: "Advanced DDoS Protection Bare-metal Servers",
    unit_name: "PC",
    unit_size: 1,
    price_currency: "EUR",
    price_per_day: 2,
  },
  ...own,
});

/** Region 76 without discount and tax; region 148 with both, and with new prices from 2027. */
export const builtInPrices = (): PriceListRecord[] => {
  const luxembourg3 = {
    region_id: 148,
    region: REGION_NAMES[148],
    tax_percent: 17,
    discount_percent: 10.5,
  };
  return [
    priceList({ region_id: 76, region: REGION_NAMES[76] }),
    priceList(luxembourg3),
    priceList({
      ...luxembourg3,
      starts_at: "2027-01-01T00:00:00Z",
      flavors: { ...FLAVORS, "g1-standard-1-2": 0.025 },
    }),
  ];
};

export const builtInK8sClusters = (): K8sClusterRecord[] => [
  {
    ...PROJECT_A,
    name: "my-cluster",
    nodes: ["g1-standard-2-4", "g1-standard-2-4", "g1-standard-4-8"],
    volumes: [
      { type_name: "standard", size: 50 },
      { type_name: "standard", size: 50 },
      { type_name: "ssd_hiiops", size: 100 },
    ],
    public_ips: 1,
  },
  {
    ...PROJECT_B,
    name: "my-other-cluster",
    nodes: ["g2-standard-4-8"],
    volumes: [{ type_name: "standard", size: 50 }],
    public_ips: 2,
  },
];

export const builtInGpuClusters = (): z.output<typeof gpuClusterRecord>[] => [
  {
    ...PROJECT_A,
    server_id: "f1c1eeb6-1834-48c9-a7b0-daafce64872b",
    name: "my-gpu-server",
    flavor: "bm3-ai-1xlarge-h100-80-8",
    volumes: [],
    public_ips: 1,
  },
  {
    ...PROJECT_B,
    server_id: "f1c1eeb6-1834-48c9-a7b0-daafce64872c",
    name: "my-virtual-gpu-server",
    flavor: "g3-ai-32-192-1500-l40s-48-1",
    volumes: [{ type_name: "ssd_lowlatency", size: 500 }],
    public_ips: 1,
  },
];
