import type { Body, Query } from "../../contract/operation.ts";
import {
  createStorageEvent,
  deleteStorageEvent,
  listStorageEvents,
  listStorageEventTypes,
  STORAGE_EVENT_LIMITS,
  STORAGE_EVENT_NAMES,
  updateStorageEvent,
} from "../../contract/storage-events.ts";
import { conflict, notFound } from "../errors.ts";
import { type Call, route } from "../routing.ts";
import type { KeyRecord } from "../state/keys.ts";
import { storageEventKey, storageEventPrefix } from "../state/state.ts";
import type { StorageEventRecord } from "../state/storage-events.ts";

type StorageEvent = Body<typeof createStorageEvent>;
type Target = Query<typeof createStorageEvent>;

/**
 * The client of the event. The query may repeat the client of the key; any other client gets the same 404 as a
 * missing one.
 * @throws RefusedError 404
 */
const clientOf = (query: Target, caller: KeyRecord): number => {
  const clientId = query.client_id ?? caller.client_id;
  if (clientId !== caller.client_id) throw notFound("client");
  return clientId;
};

const limitsOf = ({ bytes, count }: StorageEvent) => ({
  ...(bytes !== undefined && { bytes: String(bytes) }),
  ...(count !== undefined && { count: String(count) }),
});

const targetOf = ({ storage_name, bucket_name }: StorageEvent) => ({
  ...(storage_name !== undefined && { storage_name }),
  ...(bucket_name !== undefined && { bucket_name }),
});

/** The service chooses the uuid, which does not identify the event. A uuid in a request has no effect. */
export const createStorageEventRoute = route(createStorageEvent, (call) => {
  const { body, query, records, caller, newId } = call;
  const client_id = clientOf(query, caller);
  if (records.get("storage_events", storageEventKey({ ...body, client_id })) !== undefined) {
    throw conflict(
      "an event with this name, storage_name and bucket_name exists already; change it with PUT",
    );
  }

  const created = { uuid: newId(), name: body.name, ...targetOf(body), ...limitsOf(body) };
  records.put("storage_events", { client_id, ...created });
  return created;
});

/** @throws RefusedError 404 */
const requireEvent = ({ body, query, records, caller }: Call<object, Target, StorageEvent>) => {
  const client_id = clientOf(query, caller);
  const event = records.get("storage_events", storageEventKey({ ...body, client_id }));
  if (event === undefined) throw notFound("event");
  return event;
};

/** Replaces the limits (PUT semantics): a body without a limit removes it. */
export const updateStorageEventRoute = route(updateStorageEvent, (call) => {
  const { bytes, count, ...identity } = requireEvent(call);
  call.records.put("storage_events", { ...identity, ...limitsOf(call.body) });
  return undefined;
});

export const listStorageEventsRoute = route(listStorageEvents, ({ records, caller }) => {
  const entriesOf = (wanted: StorageEventRecord["name"]) =>
    records
      .list("storage_events", storageEventPrefix({ client_id: caller.client_id, name: wanted }))
      .map(({ client_id, name, ...entry }) => entry);
  return {
    reaching_used_space: entriesOf("reaching_used_space"),
    reaching_used_traffic: entriesOf("reaching_used_traffic"),
    reaching_files_quantity: entriesOf("reaching_files_quantity"),
    reaching_used_requests: entriesOf("reaching_used_requests"),
  };
});

/** Identifies the event as an update does and ignores limits in the request. */
export const deleteStorageEventRoute = route(deleteStorageEvent, (call) => {
  call.records.remove("storage_events", requireEvent(call));
  return undefined;
});

/** The limit of each name, as the provider publishes it, and the fields that identify the target. */
export const listStorageEventTypesRoute = route(listStorageEventTypes, () => ({
  structure: STORAGE_EVENT_NAMES.map((name) => ({
    name,
    fields: [
      { name: "storage_name", type: "text" },
      { name: "bucket_name", type: "text" },
      { name: STORAGE_EVENT_LIMITS[name], type: "number" },
    ],
  })),
}));
