import { STORAGE_EVENT_LIMITS, type StorageEventName } from "../../contract/storage-events.ts";

/** What a threshold is about; the provider has at most one for each target of a client. */
export interface Target {
  readonly name: StorageEventName;
  readonly storage_name?: string | undefined;
  readonly bucket_name?: string | undefined;
}

/** A threshold as wanted: decimal text of an unsigned 64-bit number, bytes or count by its name. */
export interface Threshold extends Target {
  readonly limit: string;
}

/** One text for one target; an empty name and an absent one are the same. */
export const targetKey = ({ name, storage_name, bucket_name }: Target): string =>
  JSON.stringify([name, storage_name || null, bucket_name || null]);

/** The target alone, with the fields that it has. */
export const targetOf = ({ name, storage_name, bucket_name }: Target) => ({
  name,
  ...(storage_name !== undefined && { storage_name }),
  ...(bucket_name !== undefined && { bucket_name }),
});

/** The limit under the field that the interface has for it: `{ bytes: "5" }` or `{ count: "5" }`. */
export const limitField = ({ name }: Target, limit: string) =>
  STORAGE_EVENT_LIMITS[name] === "bytes" ? { bytes: limit } : { count: limit };
