import { epochMsOf } from "../contract/timestamp.ts";
import type { RecordReader } from "./records.ts";
import type { PriceListRecord } from "./state/state.ts";

/** Since when a list holds, epoch milliseconds. */
const startOf = ({ starts_at }: PriceListRecord): number =>
  starts_at === null ? Number.NEGATIVE_INFINITY : epochMsOf(starts_at);

/** The prices that hold in a region at an instant: of the lists that have begun, the latest. */
export const priceListAt = (
  records: RecordReader,
  regionId: number | bigint,
  at: number,
): PriceListRecord | undefined =>
  records
    .list("prices")
    .filter((list) => list.region_id === regionId && startOf(list) <= at)
    .toSorted((a, b) => startOf(b) - startOf(a))[0];
