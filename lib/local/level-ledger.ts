import * as z from "zod";
import {
  type Ledger,
  type LedgerItem,
  type Listing,
  UnreadableItemError,
} from "../platform/ports/ledger.ts";
import type { LevelDatabase, LevelOperation } from "./level-database.ts";

/** DynamoDB's limits, so that a local run refuses the same items as a deployed ledger. */
const MAX_KEY_BYTES = 2048;
const MAX_SORT_BYTES = 1024;
const MAX_ITEM_BYTES = 400 * 1024;
/** Upper bound for the names and numbers of an item's attributes, without its listing. */
const ATTRIBUTE_BYTES = 100;

export const ITEMS = "item";
const DUE = "due";
const EXPIRY = "expiry";
export const LIST = "list";

const listingSchema = z.object({
  partition: z.string(),
  sort: z.string(),
  account: z.string().optional(),
  operation: z.string().optional(),
  sender: z.string().optional(),
  resource: z.string().optional(),
});

export const listEntrySchema = listingSchema.extend({ key: z.string() });

/** The value is JSON text inside JSON, as in DynamoDB, so that only a reader parses it. */
const storedSchema = z.object({
  version: z.number().nullable(),
  dueAt: z.number().optional(),
  expiresAt: z.number().optional(),
  listing: listingSchema.optional(),
  text: z.string().nullable(),
});

/** A stored item; one without version or text is unreadable. */
export type StoredItem = z.infer<typeof storedSchema>;

const INSTANT_DIGITS = 16;
const SIGN_BIT = 1n << 63n;

/** Sixteen hexadecimal digits that sort like the numbers. */
const sortable = (instant: number): string => {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, instant);
  const bits = bytes.getBigUint64(0);
  const ordered = bits & SIGN_BIT ? BigInt.asUintN(64, ~bits) : bits | SIGN_BIT;
  return ordered.toString(16).padStart(INSTANT_DIGITS, "0");
};

const indexKey = (instant: number, key: string): string => `${sortable(instant)}${key}`;
const keyInIndex = (entryKey: string): string => entryKey.slice(INSTANT_DIGITS);
/** Upper bound of the index keys of this instant. */
const endOf = (instant: number): string => indexKey(instant, "\u{10ffff}");

/** Key prefix of a partition. No partition name contains NUL, so no prefix is the beginning of another one. */
const listPrefix = (partition: string): string => `${partition}\u0000`;
const listKey = ({ partition, sort }: Listing): string => `${listPrefix(partition)}${sort}`;

const indexesOf = (key: string, { dueAt, expiresAt, listing }: StoredItem) => [
  ...(dueAt === undefined ? [] : [{ map: DUE, key: indexKey(dueAt, key), value: String(dueAt) }]),
  ...(expiresAt === undefined
    ? []
    : [{ map: EXPIRY, key: indexKey(expiresAt, key), value: String(expiresAt) }]),
  ...(listing === undefined
    ? []
    : [{ map: LIST, key: listKey(listing), value: JSON.stringify({ key, ...listing }) }]),
];

const leaveIndexes = (
  key: string,
  stored: StoredItem,
  kept: ReturnType<typeof indexesOf> = [],
): readonly LevelOperation[] =>
  indexesOf(key, stored)
    .filter((entry) => !kept.some((each) => each.map === entry.map && each.key === entry.key))
    .map((entry) => ({ type: "del", map: entry.map, key: entry.key }));

/** Operations that replace a stored item, if any, and its index entries. */
export const replacing = (
  key: string,
  before: StoredItem | undefined,
  stored: StoredItem,
): readonly LevelOperation[] => {
  const entries = indexesOf(key, stored);
  return [
    ...(before === undefined ? [] : leaveIndexes(key, before, entries)),
    { type: "put", map: ITEMS, key, value: JSON.stringify(stored) },
    ...entries.map((entry): LevelOperation => ({ type: "put", ...entry })),
  ];
};

/** @throws UnreadableItemError when the text is not a stored item */
export const parseStored = (key: string, text: string): StoredItem => {
  try {
    return storedSchema.parse(JSON.parse(text));
  } catch {
    throw new UnreadableItemError(`ledger item ${key} is not readable`);
  }
};

/** @throws UnreadableItemError when the item has no version or no readable value */
export const toItem = (key: string, stored: StoredItem): LedgerItem => {
  const { version, text, ...rest } = stored;
  if (version === null || text === null) {
    throw new UnreadableItemError(`ledger item ${key} has no version or no value`);
  }
  try {
    return { key, version, value: JSON.parse(text), ...rest };
  } catch {
    // The parser's message quotes the value, which may contain secrets of a request.
    throw new UnreadableItemError(`the value of ledger item ${key} is not readable JSON`);
  }
};

const refuseTooLarge = (key: string, text: string, listing: Listing | undefined): void => {
  const keyBytes = Buffer.byteLength(key);
  if (keyBytes > MAX_KEY_BYTES) {
    throw new Error(
      `the key of a ledger item has ${keyBytes} bytes; at most ${MAX_KEY_BYTES} are allowed`,
    );
  }
  const sortBytes = Buffer.byteLength(listing?.sort ?? "");
  if (sortBytes > MAX_SORT_BYTES) {
    throw new Error(
      `the listing of a ledger item has a sort of ${sortBytes} bytes; at most ${MAX_SORT_BYTES} are allowed`,
    );
  }
  const listingBytes = listing === undefined ? 0 : Buffer.byteLength(JSON.stringify(listing));
  if (keyBytes + Buffer.byteLength(text) + listingBytes + ATTRIBUTE_BYTES > MAX_ITEM_BYTES) {
    throw new Error("Item size has exceeded the maximum allowed size");
  }
};

/** Serialises work on the same key; work on different keys is concurrent. */
const createKeyLocks = () => {
  const lastOf = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const done = (lastOf.get(key) ?? Promise.resolve()).then(work);
    const finished = done
      .catch(() => undefined)
      .then(() => {
        if (lastOf.get(key) === finished) lastOf.delete(key);
      });
    lastOf.set(key, finished);
    return done;
  };
};

export interface LevelLedger extends Ledger {
  /** Removes every item with `expiresAt` before the instant. */
  removeExpired(now: number): Promise<void>;
}

/**
 * The ledger in one LevelDB. It is strongly consistent, and so is its due index: an item and its index
 * entries change in one batch.
 */
export const createLevelLedger = (database: LevelDatabase): LevelLedger => {
  const withLock = createKeyLocks();
  const readStored = async (key: string): Promise<StoredItem | undefined> => {
    const text = await database.get(ITEMS, key);
    return text === undefined ? undefined : parseStored(key, text);
  };

  return {
    async read(key) {
      const stored = await readStored(key);
      return stored && toItem(key, stored);
    },

    async write({ key, version, value, dueAt, expiresAt, listing }) {
      const text = JSON.stringify(value);
      refuseTooLarge(key, text, listing);
      const due = dueAt === undefined ? {} : { dueAt };
      const expiry = expiresAt === undefined ? {} : { expiresAt };
      const listed = listing === undefined ? {} : { listing };
      return withLock(key, async () => {
        const before = await readStored(key);
        if ((before ? before.version : 0) !== version - 1) return "conflict";
        const stored = { version, ...due, ...expiry, ...listed, text };
        await database.write(replacing(key, before, stored));
        return "written";
      });
    },

    async listDue(until, limit, shard = 0, from = Number.NEGATIVE_INFINITY) {
      // A local run has one poller.
      if (shard !== 0) return [];
      const entries = [];
      const range = { from: sortable(from), before: endOf(until), limit };
      for await (const [key, dueAt] of database.entries(DUE, range)) {
        entries.push({ key: keyInIndex(key), dueAt: Number(dueAt) });
      }
      return entries;
    },

    async list(partition, before, limit) {
      const prefix = listPrefix(partition);
      const end = before === undefined ? {} : { before: `${prefix}${before}` };
      const entries = [];
      for await (const [, text] of database.entries(LIST, {
        prefix,
        ...end,
        reverse: true,
        limit,
      })) {
        entries.push(listEntrySchema.parse(JSON.parse(text)));
      }
      return entries;
    },

    async removeExpired(now) {
      for await (const entryKey of database.keys(EXPIRY, { before: sortable(now) })) {
        const key = keyInIndex(entryKey);
        await withLock(key, async () => {
          const stored = await readStored(key);
          const isExpired = stored?.expiresAt !== undefined && stored.expiresAt < now;
          if (!isExpired) return;
          await database.write([{ type: "del", map: ITEMS, key }, ...leaveIndexes(key, stored)]);
        });
      }
    },
  };
};
