import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import { ifUsable, int64, noBody, nothing, oneOf, uint64, unlimitedText } from "./values.ts";

export const STORAGE_EVENT_NAMES = [
  "reaching_used_space",
  "reaching_files_quantity",
  "reaching_used_traffic",
  "reaching_used_requests",
] as const;

export type StorageEventName = (typeof STORAGE_EVENT_NAMES)[number];

/** The limit of each name. The document pairs two of them, the published interface all four. */
export const STORAGE_EVENT_LIMITS = {
  reaching_used_space: "bytes",
  reaching_files_quantity: "count",
  reaching_used_traffic: "bytes",
  reaching_used_requests: "count",
} as const satisfies Record<StorageEventName, "bytes" | "count">;

const eventFields = lazy(() => ({
  name: oneOf(STORAGE_EVENT_NAMES),
  bucket_name: unlimitedText().optional(),
  storage_name: unlimitedText().optional(),
  bytes: uint64().optional(),
  count: uint64().optional(),
  uuid: unlimitedText().optional(),
}));

export const storageEventSchema = lazy(() =>
  z
    .strictObject(eventFields())
    .refine(({ name, count }) => name !== "reaching_used_space" || count === undefined, {
      path: ["count"],
      error: "not allowed with reaching_used_space; use bytes",
    })
    .refine(({ name, bytes }) => name !== "reaching_files_quantity" || bytes === undefined, {
      path: ["bytes"],
      error: "not allowed with reaching_files_quantity; use count",
    }),
);

const clientQuery = lazy(() => z.strictObject({ client_id: int64().optional() }));
/** The lane of all operations on one event: the fields that identify it. */
const eventLane = {
  resource: "storage-event",
  by: ["query.client_id", "body.name", "body.storage_name", "body.bucket_name"],
} as const;

export const updateStorageEvent = mutation({
  id: "update-storage-event",
  reference: "E10",
  summary: "Change the limit of a storage notification event",
  method: "PUT",
  path: "/storage/notifications/v1/event",
  schemas: () => ({
    params: nothing(),
    query: clientQuery(),
    body: storageEventSchema(),
    response: noBody(),
  }),
  successStatus: 204,
  answers: "immediate",
  lane: eventLane,
  afterAmbiguousSend: "send-again",
});

export const createStorageEvent = mutation({
  id: "create-storage-event",
  reference: "E15",
  summary: "Create a storage notification event",
  method: "POST",
  path: "/storage/notifications/v1/event",
  schemas: () => ({
    params: nothing(),
    query: clientQuery(),
    body: storageEventSchema(),
    response: z.looseObject(eventFields()),
  }),
  answers: "immediate",
  lane: eventLane,
  afterAmbiguousSend: "conflict-means-created",
});

/** Not in the document. The published DELETE carries the identity of the event in its body. */
export const deleteStorageEvent = mutation({
  id: "delete-storage-event",
  reference: "DELETE event",
  summary: "Delete a storage notification event",
  method: "DELETE",
  path: "/storage/notifications/v1/event",
  schemas: () => ({
    params: nothing(),
    query: clientQuery(),
    body: storageEventSchema(),
    response: noBody(),
  }),
  successStatus: 204,
  answers: "immediate",
  lane: eventLane,
  afterAmbiguousSend: "send-again-unless-done",
});

/** An event in the list. It may have either limit: the document pairs only two of the four names with one. */
const listedEvent = lazy(() =>
  z.looseObject({
    uuid: ifUsable(unlimitedText().nullable()),
    storage_name: unlimitedText().nullable().optional(),
    bucket_name: unlimitedText().nullable().optional(),
    bytes: ifUsable(uint64().nullable()),
    count: ifUsable(uint64().nullable()),
  }),
);
/** Events of one name. An entry with an unreadable target becomes undefined. */
const listedEvents = lazy(() => z.array(ifUsable(listedEvent())).nullable().optional());

/** Reports whether the reply is a list of events at all. Any other object would otherwise look like an empty list. */
const holdsLists = (answer: Readonly<Record<string, unknown>>): boolean => {
  const values = Object.values(answer);
  return values.length === 0 || values.some((value) => value === null || Array.isArray(value));
};

/** Events grouped by name; the entries do not repeat the name. Absent, null and empty groups mean the same. */
export const storageEventListSchema = lazy(() =>
  z
    .looseObject({
      reaching_used_space: listedEvents(),
      reaching_used_traffic: listedEvents(),
      reaching_files_quantity: listedEvents(),
      reaching_used_requests: listedEvents(),
    })
    .refine(holdsLists, { error: "an object with lists of events by name" })
    .meta({ id: "StorageEvents" }),
);

export const listStorageEvents = read({
  id: "list-storage-events",
  reference: "GET events",
  summary: "List storage notification events",
  path: "/storage/notifications/v1/events",
  schemas: () => ({
    params: nothing(),
    query: nothing(),
    response: storageEventListSchema(),
  }),
});

export const listStorageEventTypes = read({
  id: "list-storage-event-types",
  reference: "GET event types",
  summary: "List the types of storage notification events",
  path: "/storage/notifications/v1/events/configurator",
  schemas: () => ({
    params: nothing(),
    query: nothing(),
    response: z.looseObject({
      structure: z.array(
        z.looseObject({
          name: z.string(),
          fields: z.array(z.looseObject({ name: z.string(), type: z.string() })),
        }),
      ),
    }),
  }),
});
