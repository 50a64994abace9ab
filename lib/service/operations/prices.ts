import Big from "big.js";
import { previewInstancePrice } from "../../contract/instance-price.ts";
import type { Body } from "../../contract/operation.ts";
import { getDdosPrice, getGpuClusterPrice, getK8sClusterPrice } from "../../contract/prices.ts";
import { invalid } from "../errors.ts";
import { requireLocation, requireOwned, requireRegion } from "../locations.ts";
import { route } from "../routing.ts";
import type { K8sClusterRecord, PriceListRecord } from "../state/prices.ts";
import { namedKey } from "../state/state.ts";

/** Hours in a month of the provider: its published samples multiply hourly prices by 720. */
const HOURS_PER_MONTH = 720;

/** List price per hour; undefined for a part without a price. */
export type HourlyPrice = Big | undefined;

/** Sums prices exactly. Amounts become JSON numbers only in the response. */
const sumOf = (prices: readonly HourlyPrice[]): HourlyPrice =>
  prices.reduce<HourlyPrice>((sum, price) => price && sum?.plus(price), Big(0));

/** Looks up a name in a table of a price list. */
const priceOf = (table: Readonly<Record<string, number>>, name: string, times = 1): HourlyPrice =>
  Object.hasOwn(table, name) ? Big(table[name] ?? 0).times(times) : undefined;

const shareOf = (percent: number): Big => Big(percent).div(100);

/** Applies tax and discount of a price list to an hourly price. */
const applyTerms = (
  perHour: Big,
  { tax_percent, discount_percent }: PriceListRecord,
): { readonly hour: Big; readonly month: Big; readonly monthWithoutDiscount: Big } => {
  const taxed = perHour.times(shareOf(tax_percent).plus(1));
  const hour = taxed.times(Big(1).minus(shareOf(discount_percent)));
  return {
    hour,
    month: hour.times(HOURS_PER_MONTH),
    monthWithoutDiscount: taxed.times(HOURS_PER_MONTH),
  };
};

type Preview = Body<typeof previewInstancePrice>;
type Volume = NonNullable<Preview["volumes"]>[number];

const DEFAULT_VOLUME_TYPE = "standard";

/** Volume types that every response contains; others appear only when ordered. */
const DOCUMENTED_VOLUME_TYPES = ["cold", "ssd_hiiops", "ssd_lowlatency", "standard", "ultra"];

/** @throws RefusedError 400 with the field that has no price in the region */
const requirePrice = (
  table: Readonly<Record<string, number>>,
  name: string,
  times: number,
  field: string,
): Big => {
  const price = priceOf(table, name, times);
  if (price === undefined) throw invalid({ [field]: ["is not offered in this region"] });
  return price;
};

/** Number of external addresses: one for each external interface. */
const countExternal = ({ interfaces }: Preview): number =>
  interfaces.filter(({ type }) => type === "external").length;

/** Number of new floating IPs. Existing ones are paid for already. */
const countFloating = ({ interfaces }: Preview): number =>
  interfaces.filter((one) => one.type !== "external" && one.floating_ip?.source === "new").length;

/** Prices of all instances by volume type. Existing volumes are paid for already; one without a size is free. */
const volumePricesByType = (
  volumes: readonly Volume[],
  prices: PriceListRecord,
  count: number,
): ReadonlyMap<string, Big> => {
  const byType = new Map<string, Big>();
  for (const [index, { source, type_name, size }] of volumes.entries()) {
    if (source === "existing-volume") continue;
    const type = type_name ?? DEFAULT_VOLUME_TYPE;
    const field = `volumes.${index}.type_name`;
    const price = requirePrice(prices.volume_types, type, (size ?? 0) * count, field);
    byType.set(type, byType.get(type)?.plus(price) ?? price);
  }
  return byType;
};

/** List prices per hour of the whole order, by category. */
const categoriesOf = (preview: Preview, prices: PriceListRecord, count: number) => {
  const { external_ip, floating_ip, flavors } = prices;
  return {
    flavor: requirePrice(flavors, preview.flavor, count, "flavor"),
    external_ip: Big(external_ip).times(countExternal(preview) * count),
    floating_ip: Big(floating_ip).times(countFloating(preview) * count),
    volumes: volumePricesByType(preview.volumes ?? [], prices, count),
  };
};

type Categories = ReturnType<typeof categoriesOf>;

const show = ({ flavor, external_ip, floating_ip, volumes }: Categories, hours: number) => ({
  external_ip: external_ip.times(hours).toNumber(),
  flavor: flavor.times(hours).toNumber(),
  floating_ip: floating_ip.times(hours).toNumber(),
  volumes: Object.fromEntries(
    [...DOCUMENTED_VOLUME_TYPES, ...volumes.keys()].map((type) => [
      type,
      volumes.get(type)?.times(hours).toNumber() ?? 0,
    ]),
  ),
});

/** Categories are list prices; totals include discount and tax. */
export const previewInstancePriceRoute = route(previewInstancePrice, (call) => {
  const { body } = call;
  const prices = requireLocation(call);
  const count = (body.names ?? body.name_templates ?? []).length;
  const categories = categoriesOf(body, prices, count);
  const { volumes, ...others } = categories;
  const total = [...Object.values(others), ...volumes.values()].reduce((a, b) => a.plus(b), Big(0));
  const { hour, month, monthWithoutDiscount } = applyTerms(total, prices);
  if (monthWithoutDiscount.gt(Number.MAX_SAFE_INTEGER)) {
    throw invalid({ volumes: ["the total price is too large for a JSON number"] });
  }
  const discount = shareOf(prices.discount_percent);
  return {
    currency_code: prices.currency_code,
    discount_details: discount.eq(0)
      ? []
      : [{ resource: "instance", discount: discount.toFixed() }],
    discount_percent: discount.times(100).toFixed(2),
    per_hour: show(categories, 1),
    per_month: show(categories, HOURS_PER_MONTH),
    price_status: prices.price_status,
    price_without_discount_per_month: monthWithoutDiscount.toNumber(),
    tax_percent: prices.tax_percent,
    total_price_per_hour: hour.toNumber(),
    total_price_per_month: month.toNumber(),
    per_gb: { egress_traffic_baremetal: prices.egress_traffic_baremetal },
    vm_count: count,
  };
});

/** Item price. Without a price in the list, `price_status` is `error` and the amounts are null. */
const itemPrice = (perHour: HourlyPrice, prices: PriceListRecord) => {
  const terms = perHour && applyTerms(perHour, prices);
  return {
    currency_code: prices.currency_code,
    discount_percent: shareOf(prices.discount_percent).toNumber(),
    price_per_hour: terms?.hour.toNumber() ?? null,
    price_per_month: terms?.month.toNumber() ?? null,
    price_without_discount_per_month: terms?.monthWithoutDiscount.toNumber() ?? null,
    price_status: terms ? prices.price_status : "error",
    tax_percent: prices.tax_percent,
  } as const;
};

type Parts = Pick<K8sClusterRecord, "volumes" | "public_ips">;

const volumePrices = ({ volumes }: Parts, prices: PriceListRecord): HourlyPrice[] =>
  volumes.map(({ type_name, size }) => priceOf(prices.volume_types, type_name, size));

const addressPrices = ({ public_ips }: Parts, prices: PriceListRecord): HourlyPrice[] =>
  Array.from({ length: public_ips }, () => Big(prices.external_ip));

export const getK8sClusterPriceRoute = route(getK8sClusterPrice, (call) => {
  const { params, records } = call;
  const key = namedKey({ ...params, name: params.cluster_name });
  const cluster = requireOwned(records.get("k8s_clusters", key), call, "cluster");
  const prices = requireRegion(call);

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

/** One price for the whole server: the sum of its flavor, volumes and public IP addresses. */
export const getGpuClusterPriceRoute = route(getGpuClusterPrice, (call) => {
  const found = call.records.get("gpu_clusters", call.params.server_id);
  const server = requireOwned(found, call, "server");
  const prices = requireRegion(call);

  const parts = [
    priceOf(prices.flavors, server.flavor),
    ...volumePrices(server, prices),
    ...addressPrices(server, prices),
  ];
  return itemPrice(sumOf(parts), prices);
});

const DAYS_PER_PERIOD = 30;
const HOURS_PER_DAY = 24;

/** Days of the month that is `ahead` months after the month of the instant, in UTC. */
const daysOfMonth = (instant: Date, ahead: number): number =>
  new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead + 1, 0)).getUTCDate();

export const getDdosPriceRoute = route(getDdosPrice, (call) => {
  const { ddos } = requireRegion(call);
  const { price_per_day, ...unit } = ddos;
  const now = new Date(call.at);
  const days = daysOfMonth(now, 0);
  return {
    current_month_days: days,
    current_month_days_last: days - now.getUTCDate(),
    next_month_days: daysOfMonth(now, 1),
    price: {
      ...unit,
      period: "day",
      price_per_30d: Big(price_per_day).times(DAYS_PER_PERIOD).toNumber(),
      price_per_day,
      price_per_hour: Big(price_per_day).div(HOURS_PER_DAY).toNumber(),
    },
  };
});
