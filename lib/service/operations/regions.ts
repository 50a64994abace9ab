import { epochMsOf } from "../../contract/values.ts";
import { notFound } from "../errors.ts";
import { type Location, owns } from "../ownership.ts";
import type { RecordReader } from "../records.ts";
import type { Context } from "../routing.ts";
import type { PriceListRecord } from "../state/state.ts";

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

/**
 * The region's prices at the instant of the request; a region is a place that has some.
 * @throws RefusedError 404
 */
export const requireRegion = (
  regionId: number | bigint,
  { records, at }: Pick<Context, "records" | "at">,
): PriceListRecord => {
  const list = priceListAt(records, regionId, at);
  if (list === undefined) throw notFound("region");
  return list;
};

/**
 * For what is created or priced in a project and region: both must exist, and the project be the key's.
 * @throws RefusedError 404
 */
export const requireLocation = (
  params: Location,
  { caller, records, at }: Pick<Context, "caller" | "records" | "at">,
): PriceListRecord => {
  if (!owns(caller, params.project_id)) throw notFound("project");
  return requireRegion(params.region_id, { records, at });
};
