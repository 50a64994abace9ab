import type { PriceListRecord, State } from "../state/state.ts";
import { PROJECT_A, PROJECT_B, REGION_NAMES } from "./places.ts";

/** Amounts of the size that the provider's public samples show; none is a real price. */
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

/** One region without discount and tax, one with both and with new prices from 2027 on. */
export const builtInPrices = (): State["prices"] => {
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

/** Clusters as far as their prices go. */
export const builtInClusters = (): Pick<State, "k8s_clusters" | "gpu_clusters"> => ({
  k8s_clusters: [
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
  ],
  gpu_clusters: [
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
  ],
});
