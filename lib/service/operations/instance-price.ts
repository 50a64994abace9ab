import Big from "big.js";
import { previewInstancePrice } from "../../contract/instance-price.ts";
import type { Body } from "../../contract/operation.ts";
import { invalid } from "../errors.ts";
import { readRoute } from "../routing.ts";
import type { PriceListRecord } from "../state/state.ts";
import { applyTerms, discountShare, HOURS_PER_MONTH, priceOf } from "./price-terms.ts";
import { requireLocation } from "./regions.ts";

type Preview = Body<typeof previewInstancePrice>;
type Volume = NonNullable<Preview["volumes"]>[number];

const DEFAULT_VOLUME_TYPE = "standard";

/** Always shown, so that a reader need not tell missing from nothing; others only where ordered. */
const DOCUMENTED_VOLUME_TYPES = ["cold", "ssd_hiiops", "ssd_lowlatency", "standard", "ultra"];

/** @throws RefusedError 400 naming the field whose value has no price in the region */
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

/** An address from the external network for each external interface. */
const countExternal = ({ interfaces }: Preview): number =>
  interfaces.filter(({ type }) => type === "external").length;

/** Floating addresses to be made; one that exists already is paid for. */
const countFloating = ({ interfaces }: Preview): number =>
  interfaces.filter((one) => one.type !== "external" && one.floating_ip?.source === "new").length;

/** By volume type, all instances together. A volume that exists is paid for; one without a size adds nothing. */
const volumePrices = (
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

/** What the whole order costs in an hour by the price list, by category. */
const categoriesOf = (preview: Preview, prices: PriceListRecord, count: number) => {
  const { external_ip, floating_ip, flavors } = prices;
  return {
    flavor: requirePrice(flavors, preview.flavor, count, "flavor"),
    external_ip: Big(external_ip).times(countExternal(preview) * count),
    floating_ip: Big(floating_ip).times(countFloating(preview) * count),
    volumes: volumePrices(preview.volumes ?? [], prices, count),
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

/** The categories are list prices; the totals have the discount taken off and the tax put on. */
export const previewInstancePriceRoute = readRoute(previewInstancePrice, (call) => {
  const { params, body } = call;
  const prices = requireLocation(params, call);
  const count = (body.names ?? body.name_templates ?? []).length;
  const categories = categoriesOf(body, prices, count);
  const { volumes, ...others } = categories;
  const total = [...Object.values(others), ...volumes.values()].reduce((a, b) => a.plus(b), Big(0));
  const { hour, month, monthWithoutDiscount } = applyTerms(total, prices);
  if (monthWithoutDiscount.gt(Number.MAX_SAFE_INTEGER)) {
    throw invalid({ volumes: ["cost more than a JSON number can tell exactly"] });
  }
  const discount = discountShare(prices);
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
