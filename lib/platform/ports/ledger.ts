/** JSON data of a ledger item. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Entry of an item in the list of items. Its values never change during the life of the item, so only the
 * item's first write also writes the index.
 */
export interface Listing {
  /** Partition of the list; a query reads one partition. */
  readonly partition: string;
  /**
   * Sort key, unique in its partition, at most 1,024 bytes. Queries return entries in descending order of
   * its bytes in UTF-8.
   */
  readonly sort: string;
  readonly account?: string | undefined;
  readonly operation?: string | undefined;
  readonly sender?: string | undefined;
  readonly resource?: string | undefined;
}

/** One item of the ledger. Data that changes together is in one item. */
export interface LedgerItem {
  /** Unique; `<kind>#…`. */
  readonly key: string;
  /** 1 at creation. Every write has its new version, one more than the replaced one. */
  readonly version: number;
  /** Instant at which the poller next handles the item, epoch ms; absent when nothing is outstanding. */
  readonly dueAt?: number | undefined;
  /** Epoch ms. The store may remove the item at any time after it. */
  readonly expiresAt?: number | undefined;
  /** Absent for an item outside the list. */
  readonly listing?: Listing | undefined;
  readonly value: JsonObject;
}

/** Maximum number of shards of the due index. */
export const MAX_SHARDS = 16;

/** The parts of the due index. Each has a poller of its own. */
export interface Shards {
  /** 1 to `MAX_SHARDS`. */
  readonly count: number;
  /** Shard that an item's entry goes to, by the item's key: 0 to `count - 1`. */
  of(key: string): number;
}

export interface DueEntry {
  readonly key: string;
  readonly dueAt: number;
}

export interface ListEntry extends Listing {
  readonly key: string;
}

/** The record under a key is not a ledger item, or not one that this version can read. */
export class UnreadableItemError extends Error {
  override readonly name = "UnreadableItemError";
}

/**
 * The durable record of commands, lanes and tasks: single items, each change one conditional write.
 */
export interface Ledger {
  /**
   * Reads the latest acknowledged write of the item (strongly consistent). Resolves to undefined for a key
   * beyond the store's maximum length.
   * @throws UnreadableItemError when the stored record is not a readable item
   */
  read(key: string): Promise<LedgerItem | undefined>;
  /**
   * Writes the item if the stored version is exactly `item.version - 1` (0: not stored). Otherwise it
   * changes nothing and resolves to `conflict`, because another writer was faster.
   * After a rejection the outcome is unknown: the write may have taken effect.
   */
  write(item: LedgerItem): Promise<"written" | "conflict">;
  /**
   * Lists at most `limit` items that are due at or before `until`, the longest due first; fewer only if no
   * more are due; Infinity: all. Eventually consistent: an entry may be stale or missing for a moment, so re-read an item
   * before you act on it.
   * @param shard of the due index, from 0 to `MAX_SHARDS - 1`; default: all
   * @param from leaves out items that are due before this instant, epoch ms; default: none
   */
  listDue(
    until: number,
    limit: number,
    shard?: number,
    from?: number,
  ): Promise<readonly DueEntry[]>;
  /**
   * Lists at most `limit` items of one partition in descending order of `sort`; fewer only at the end
   * of the partition. Eventually consistent.
   * @param before `sort` of the last entry of the previous page; undefined for the first page
   */
  list(partition: string, before: string | undefined, limit: number): Promise<readonly ListEntry[]>;
}
