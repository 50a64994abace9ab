import type { Reply } from "../../contract/operation.ts";
import {
  listStorageEvents,
  STORAGE_EVENT_LIMITS,
  STORAGE_EVENT_NAMES,
  type StorageEventName,
} from "../../contract/storage-events.ts";
import type { Client } from "../../provider/client.ts";

/** Subject of a threshold; the provider has at most one threshold for each target of a client. */
export interface Target {
  readonly name: StorageEventName;
  readonly storage_name?: string | undefined;
  readonly bucket_name?: string | undefined;
}

/** A threshold as wanted. */
export interface Threshold extends Target {
  /** Decimal text of an unsigned 64-bit number: bytes or a count, depending on the name. */
  readonly limit: string;
}

/** Key of a target. An empty storage or bucket name equals an absent one. */
export const targetKey = ({ name, storage_name, bucket_name }: Target): string =>
  JSON.stringify([name, storage_name || null, bucket_name || null]);

/** The target's fields alone, without absent ones. */
export const targetOf = ({ name, storage_name, bucket_name }: Target) => ({
  name,
  ...(storage_name !== undefined && { storage_name }),
  ...(bucket_name !== undefined && { bucket_name }),
});

/** The limit under its field in the interface: `{ bytes: "5" }` or `{ count: "5" }`. */
export const limitField = ({ name }: Target, limit: string) =>
  STORAGE_EVENT_LIMITS[name] === "bytes" ? { bytes: limit } : { count: limit };

/** A threshold as the provider has it, or as the ledger remembers it. */
export interface ActualThreshold extends Target {
  /** Decimal text; absent: there is none, or an unfinished change leaves it unknown. */
  readonly limit?: string | undefined;
  readonly uuid?: string | undefined;
}

/** One step from the actual to the wanted thresholds. */
export type Change =
  | { readonly action: "create"; readonly threshold: Threshold }
  | { readonly action: "update"; readonly threshold: Threshold; readonly from: ActualThreshold }
  | { readonly action: "delete"; readonly from: ActualThreshold };

/** The target that a change creates, updates or deletes. */
export const targetOfChange = (change: Change) =>
  targetOf(change.action === "delete" ? change.from : change.threshold);

export interface Plan {
  readonly changes: readonly Change[];
  readonly unchangedCount: number;
}

const exactName = (target: Target): string => JSON.stringify(targetOf(target));

/** Prefers the threshold with exactly the wanted names to one with equivalent names. */
const closest = (wanted: Threshold, found: readonly ActualThreshold[]) =>
  found.find((each) => exactName(each) === exactName(wanted)) ?? found[0];

const changeFor = (
  wanted: Threshold,
  actual: ActualThreshold | undefined,
): Change | "unchanged" => {
  if (!actual) return { action: "create", threshold: wanted };
  if (actual.limit === wanted.limit) return "unchanged";
  // The provider finds a threshold only by the names that it has itself.
  const threshold = { ...targetOf(actual), limit: wanted.limit };
  return { action: "update", threshold, from: actual };
};

const byTarget = (actual: readonly ActualThreshold[]) => {
  const found = new Map<string, ActualThreshold[]>();
  for (const each of actual) {
    const same = found.get(targetKey(each));
    if (same) same.push(each);
    else found.set(targetKey(each), [each]);
  }
  return found;
};

/**
 * Compares the wanted thresholds with the actual ones. Pure.
 * @param prune whether unwanted thresholds are deleted
 */
export const planChanges = (
  wanted: readonly Threshold[],
  actual: readonly ActualThreshold[],
  prune: boolean,
): Plan => {
  const found = byTarget(actual);
  const pairs = wanted.map((threshold) => {
    const match = closest(threshold, found.get(targetKey(threshold)) ?? []);
    return { match, change: changeFor(threshold, match) };
  });
  // The provider deletes by name, so of two thresholds with the same names neither can be deleted alone.
  const kept = new Set(pairs.flatMap(({ match }) => (match ? [exactName(match)] : [])));
  const unwanted = prune ? actual.filter((each) => !kept.has(exactName(each))) : [];
  return {
    changes: [
      ...pairs.flatMap(({ change }) => (change === "unchanged" ? [] : [change])),
      ...unwanted.map((from) => ({ action: "delete", from }) as const),
    ],
    unchangedCount: pairs.filter(({ change }) => change === "unchanged").length,
  };
};

type EventList = Reply<typeof listStorageEvents>;
type ListedEvent = NonNullable<NonNullable<EventList[StorageEventName]>[number]>;

/** Converts a listed event. Null equals absent, and the limit is the one that belongs to the name. */
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
 * Every threshold of the key's own client, in one request. Unknown names and unreadable entries are
 * left out: a config cannot want them, so they must not be pruned.
 * @throws ProviderError
 */
export const listThresholds = async (client: Client): Promise<readonly ActualThreshold[]> => {
  const list = await client.call(listStorageEvents, { params: {}, query: {}, body: undefined });
  return STORAGE_EVENT_NAMES.flatMap((name) =>
    (list[name] ?? []).flatMap((event) => (event ? [toThreshold(name, event)] : [])),
  );
};
