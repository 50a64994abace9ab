/** JSON data: what one ledger item holds. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/** One item of the ledger. Everything that changes together lives in one item. */
export interface LedgerItem {
  /** Unique; `<kind>#…`. */
  readonly key: string;
  /** 1 when created; every write carries the version it makes, one more than the one it replaces. */
  readonly version: number;
  /** When the poller takes the item up again, epoch ms; absent when nothing is outstanding. */
  readonly dueAt?: number | undefined;
  /** After this instant (epoch ms) the item may be removed by the store, at any later time. */
  readonly expiresAt?: number | undefined;
  readonly value: JsonObject;
}

export interface DueEntry {
  readonly key: string;
  readonly dueAt: number;
}

/** What is stored under a key is no ledger item, or none that this version knows. */
export class UnreadableItemError extends Error {
  override readonly name = "UnreadableItemError";
}

/**
 * The durable record of commands, lanes and tasks: single items, each change one conditional write.
 */
export interface Ledger {
  /**
   * The latest acknowledged write of the item (strongly consistent); nothing under a key that is
   * longer than any item's.
   * @throws UnreadableItemError when what is there is none
   */
  read(key: string): Promise<LedgerItem | undefined>;
  /**
   * Writes the item if the stored version is exactly `item.version - 1` (0: not stored).
   * Answers `conflict`, and changes nothing, when another writer was faster.
   * A rejection means that the outcome is unknown: the write may have taken effect.
   */
  write(item: LedgerItem): Promise<"written" | "conflict">;
  /**
   * Items due at or before `until`, the longest due first, at most `limit`; fewer only when no more
   * are due. Eventually consistent: an entry may be stale or missing for a moment, so re-read an item
   * before acting on it.
   */
  listDue(until: number, limit: number): Promise<readonly DueEntry[]>;
}
