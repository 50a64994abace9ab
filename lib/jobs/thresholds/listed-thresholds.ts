import type { Reply } from "../../contract/operation.ts";
import {
  listStorageEvents,
  STORAGE_EVENT_LIMITS,
  STORAGE_EVENT_NAMES,
  type StorageEventName,
} from "../../contract/storage-events.ts";
import type { Client } from "../../provider/client.ts";
import type { ActualThreshold } from "./plan.ts";

type EventList = Reply<typeof listStorageEvents>;
type ListedEvent = NonNullable<NonNullable<EventList[StorageEventName]>[number]>;

/** Null and absent are the same; the limit is the one that belongs to the name. */
const toThreshold = (name: StorageEventName, event: ListedEvent): ActualThreshold => {
  const { storage_name, bucket_name, uuid } = event;
  const limit = event[STORAGE_EVENT_LIMITS[name]];
  return {
    name,
    ...(storage_name !== null && storage_name !== undefined && { storage_name }),
    ...(bucket_name !== null && bucket_name !== undefined && { bucket_name }),
    ...(uuid !== null && uuid !== undefined && { uuid }),
    ...(limit !== null && limit !== undefined && { limit: String(limit) }),
  };
};

/**
 * Every threshold of the key's own client, in one request. Names that we do not know are left out:
 * what nobody can want here must not be pruned, and neither must what cannot be read.
 * @throws ProviderError
 */
export const listThresholds = async (client: Client): Promise<readonly ActualThreshold[]> => {
  const list = await client.call(listStorageEvents, { params: {}, query: {}, body: undefined });
  return STORAGE_EVENT_NAMES.flatMap((name) =>
    (list[name] ?? []).flatMap((event) => (event ? [toThreshold(name, event)] : [])),
  );
};
