import Big from "big.js";
import { getDdosPrice } from "../../contract/prices.ts";
import { readRoute } from "../routing.ts";
import { requireRegion } from "./regions.ts";

const DAYS_PER_PERIOD = 30;
const HOURS_PER_DAY = 24;

/** Days of the month that is `ahead` months after the one of the instant, in UTC. */
const daysOfMonth = (instant: Date, ahead: number): number =>
  new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead + 1, 0)).getUTCDate();

export const getDdosPriceRoute = readRoute(getDdosPrice, (call) => {
  const { ddos } = requireRegion(call.params.region_id, call);
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
