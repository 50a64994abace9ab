import Big from "big.js";
import { getGpuClusterPrice, getK8sClusterPrice } from "../../contract/prices.ts";
import { requireOwned } from "../ownership.ts";
import { namedKey } from "../record-keys.ts";
import { readRoute } from "../routing.ts";
import type { PriceListRecord, RecordOf } from "../state/state.ts";
import { applyTerms, discountShare, type HourlyPrice, priceOf, sumOf } from "./price-terms.ts";
import { requireRegion } from "./regions.ts";

/** What has no price is shown as an error with empty amounts, which the interface provides for. */
const itemPrice = (perHour: HourlyPrice, prices: PriceListRecord) => {
  const terms = perHour && applyTerms(perHour, prices);
  return {
    currency_code: prices.currency_code,
    discount_percent: discountShare(prices).toNumber(),
    price_per_hour: terms?.hour.toNumber() ?? null,
    price_per_month: terms?.month.toNumber() ?? null,
    price_without_discount_per_month: terms?.monthWithoutDiscount.toNumber() ?? null,
    price_status: terms ? prices.price_status : "error",
    tax_percent: prices.tax_percent,
  } as const;
};

type Parts = Pick<RecordOf<"k8s_clusters">, "volumes" | "public_ips">;

const volumePrices = ({ volumes }: Parts, prices: PriceListRecord): HourlyPrice[] =>
  volumes.map(({ type_name, size }) => priceOf(prices.volume_types, type_name, size));

const addressPrices = ({ public_ips }: Parts, prices: PriceListRecord): HourlyPrice[] =>
  Array.from({ length: public_ips }, () => Big(prices.external_ip));

export const getK8sClusterPriceRoute = readRoute(getK8sClusterPrice, (call) => {
  const { params, records, caller } = call;
  const key = namedKey({ ...params, name: params.cluster_name });
  const cluster = requireOwned(records.get("k8s_clusters", key), params, caller, "cluster");
  const prices = requireRegion(params.region_id, call);

  const instances = cluster.nodes.map((flavor) => priceOf(prices.flavors, flavor));
  const volumes = volumePrices(cluster, prices);
  const publicips = addressPrices(cluster, prices);
  const shown = (parts: readonly HourlyPrice[]) => parts.map((part) => itemPrice(part, prices));
  return {
    instances: shown(instances),
    publicips: shown(publicips),
    volumes: shown(volumes),
    total_price: itemPrice(sumOf([...instances, ...publicips, ...volumes]), prices),
  };
});

/** One price for the whole server: the sum of its flavor, volumes and public addresses. */
export const getGpuClusterPriceRoute = readRoute(getGpuClusterPrice, (call) => {
  const { params, records, caller } = call;
  const found = records.get("gpu_clusters", params.server_id);
  const server = requireOwned(found, params, caller, "server");
  const prices = requireRegion(params.region_id, call);

  const parts = [
    priceOf(prices.flavors, server.flavor),
    ...volumePrices(server, prices),
    ...addressPrices(server, prices),
  ];
  return itemPrice(sumOf(parts), prices);
});
