import { notFound } from "./errors.ts";
import type { KeyRecord } from "./state/state.ts";

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
export const owns = ({ project_ids }: KeyRecord, projectId: number | bigint): boolean =>
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
