import { epochMsOf } from "../contract/values.ts";
import { notFound } from "./errors.ts";
import type { RecordReader } from "./records.ts";
import type { Context } from "./routing.ts";
import type { KeyRecord } from "./state/keys.ts";
import type { PriceListRecord } from "./state/prices.ts";

/** The ids in a path. A bigint matches no record, because records have numbers. */
interface Location {
  readonly project_id: number | bigint;
  readonly region_id: number | bigint;
}

interface Located {
  readonly params: Location;
  readonly caller: KeyRecord;
}

const owns = ({ project_ids }: KeyRecord, projectId: number | bigint): boolean =>
  project_ids.some((id) => id === projectId);

/**
 * The record, if it belongs to the project and region of the path and the key has access to the project.
 * A record of another client gets the same 404 as a missing one, so that ids cannot be probed.
 * @throws RefusedError 404
 */
export const requireOwned = <R extends { readonly project_id: number; readonly region_id: number }>(
  record: R | undefined,
  { params, caller }: Located,
  what: string,
): R => {
  const owned =
    record?.project_id === params.project_id &&
    record.region_id === params.region_id &&
    owns(caller, params.project_id);
  if (!owned) throw notFound(what);
  return record;
};

const startOf = ({ starts_at }: PriceListRecord): number =>
  starts_at === null ? Number.NEGATIVE_INFINITY : epochMsOf(starts_at);

/** The price list of a region at an instant (epoch ms): the latest one that has begun. */
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
 * The price list of the region at the instant of the request. A region exists if it has a price list.
 * @throws RefusedError 404
 */
export const requireRegion = ({
  params,
  records,
  at,
}: Pick<Context, "records" | "at"> & {
  readonly params: Pick<Location, "region_id">;
}): PriceListRecord => {
  const list = priceListAt(records, params.region_id, at);
  if (list === undefined) throw notFound("region");
  return list;
};

/**
 * The price list for a request that creates or prices a resource. The key must have access to the project, and
 * the region must exist.
 * @throws RefusedError 404
 */
export const requireLocation = (
  call: Located & Pick<Context, "records" | "at">,
): PriceListRecord => {
  if (!owns(call.caller, call.params.project_id)) throw notFound("project");
  return requireRegion(call);
};
