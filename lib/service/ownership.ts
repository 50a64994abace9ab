import { notFound } from "./errors.ts";
import type { RecordReader } from "./records.ts";
import type { KeyRecord } from "./state.ts";

interface Located {
  readonly project_id: number;
  readonly region_id: number;
}

/**
 * The record, if it lives in the project and region of the path and the project is one of the key's.
 * What another client owns is answered like what does not exist, so ids cannot be probed.
 * @throws RefusedError 404
 */
export const requireOwned = <R extends Located>(
  record: R | undefined,
  params: Located,
  caller: KeyRecord,
  what: string,
): R => {
  const owned =
    record?.project_id === params.project_id &&
    record.region_id === params.region_id &&
    caller.project_ids.includes(params.project_id);
  if (!owned) throw notFound(what);
  return record;
};

/**
 * For what is created in a project and region: both must exist, and the project be the key's.
 * @throws RefusedError 404
 */
export const requireLocation = (params: Located, caller: KeyRecord, records: RecordReader) => {
  if (!caller.project_ids.includes(params.project_id)) throw notFound("project");
  const region = records.get("regions", String(params.region_id));
  if (region === undefined) throw notFound("region");
  return region;
};
