import { epochMsOf } from "../contract/values.ts";
import { notFound } from "./errors.ts";
import type { RecordReader } from "./records.ts";
import type { Context } from "./routing.ts";
import type { KeyRecord } from "./state/keys.ts";
import type { PriceListRecord } from "./state/prices.ts";

interface Located {
  readonly project_id: number;
  readonly region_id: number;
}

/** A path's ids; one beyond what a number holds is nobody's. */
export interface Location {
  readonly project_id: number | bigint;
  readonly region_id: number | bigint;
}

/** Whether the project is one of the key's. */
const owns = ({ project_ids }: KeyRecord, projectId: number | bigint): boolean =>
  project_ids.some((id) => id === projectId);

/**
 * The record, if it lives in the project and region of the path and the project is one of the key's.
 * What another client owns is answered like what does not exist, so ids cannot be probed.
 * @throws RefusedError 404
 */
export const requireOwned = <R extends Located>(
  record: R | undefined,
  params: Location,
  caller: KeyRecord,
  what: string,
): R => {
  const owned =
    record?.project_id === params.project_id &&
    record.region_id === params.region_id &&
    owns(caller, params.project_id);
  if (!owned) throw notFound(what);
  return record;
};

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
