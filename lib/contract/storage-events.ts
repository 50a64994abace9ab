import * as z from "zod";
import { mutation, read } from "./operation.ts";
import { ifUsable, int64, noBody, nothing, oneOf, uint64, unlimitedText } from "./values.ts";

export const STORAGE_EVENT_NAMES = [
  "reaching_used_space",
  "reaching_files_quantity",
  "reaching_used_traffic",
  "reaching_used_requests",
] as const;

export type StorageEventName = (typeof STORAGE_EVENT_NAMES)[number];

/** The limit that belongs to each name: the document says it for two, the provider publicly for all. */
export const STORAGE_EVENT_LIMITS = {
  reaching_used_space: "bytes",
  reaching_files_quantity: "count",
  reaching_used_traffic: "bytes",
  reaching_used_requests: "count",
} as const satisfies Record<StorageEventName, "bytes" | "count">;

const eventFields = {
  name: oneOf(STORAGE_EVENT_NAMES),
  bucket_name: unlimitedText.optional(),
  storage_name: unlimitedText.optional(),
  bytes: uint64.optional(),
  count: uint64.optional(),
  uuid: unlimitedText.optional(),
};

export const storageEventSchema = z
  .strictObject(eventFields)
  .refine(({ name, count }) => name !== "reaching_used_space" || count === undefined, {
    path: ["count"],
    error: "reaching_used_space is limited by bytes",
  })
  .refine(({ name, bytes }) => name !== "reaching_files_quantity" || bytes === undefined, {
    path: ["bytes"],
    error: "reaching_files_quantity is limited by count",
  });

const clientQuery = z.strictObject({ client_id: int64.optional() });
/** The identity of an event: one lane for all operations on it. */
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
  params: nothing,
  query: clientQuery,
  body: storageEventSchema,
  response: noBody,
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
  params: nothing,
  query: clientQuery,
  body: storageEventSchema,
  response: z.looseObject(eventFields),
  answers: "immediate",
  lane: eventLane,
  afterAmbiguousSend: "conflict-means-created",
});

/** Not in the document. The published form has a body on DELETE, with the identity of the event. */
export const deleteStorageEvent = mutation({
  id: "delete-storage-event",
  reference: "DELETE event",
  summary: "Delete a storage notification event",
  method: "DELETE",
  path: "/storage/notifications/v1/event",
  params: nothing,
  query: clientQuery,
  body: storageEventSchema,
  response: noBody,
  successStatus: 204,
  answers: "immediate",
  lane: eventLane,
  afterAmbiguousSend: "send-again-unless-done",
});

/** With both limits: the document pairs only two of the four names with one. */
const listedEvent = z.looseObject({
  uuid: ifUsable(unlimitedText.nullable()),
  storage_name: unlimitedText.nullable().optional(),
  bucket_name: unlimitedText.nullable().optional(),
  bytes: ifUsable(uint64.nullable()),
  count: ifUsable(uint64.nullable()),
});
/** An entry with an unreadable target is undefined. */
const listedEvents = z.array(ifUsable(listedEvent)).nullable().optional();

/** Whether the answer has lists: another one must not be read as one without events. */
const holdsLists = (answer: Readonly<Record<string, unknown>>): boolean => {
  const values = Object.values(answer);
  return values.length === 0 || values.some((value) => value === null || Array.isArray(value));
};

/** Grouped by name; the entries themselves carry none. Absent, null and empty mean the same. */
export const storageEventListSchema = z
  .looseObject({
    reaching_used_space: listedEvents,
    reaching_used_traffic: listedEvents,
    reaching_files_quantity: listedEvents,
    reaching_used_requests: listedEvents,
  })
  .refine(holdsLists, { error: "lists of events by name" })
  .meta({ id: "StorageEvents" });

export const listStorageEvents = read({
  id: "list-storage-events",
  reference: "GET events",
  summary: "List the storage notification events of the key's client",
  path: "/storage/notifications/v1/events",
  params: nothing,
  query: nothing,
  response: storageEventListSchema,
});

export const listStorageEventTypes = read({
  id: "list-storage-event-types",
  reference: "GET event types",
  summary: "List the names of storage notification events and the fields of each",
  path: "/storage/notifications/v1/events/configurator",
  params: nothing,
  query: nothing,
  response: z.looseObject({
    structure: z.array(
      z.looseObject({
        name: z.string(),
        fields: z.array(z.looseObject({ name: z.string(), type: z.string() })),
      }),
    ),
  }),
});
