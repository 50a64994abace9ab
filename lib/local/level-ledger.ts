import * as z from "zod";
import { type Ledger, type LedgerItem, UnreadableItemError } from "../platform/ports/ledger.ts";
import type { LevelDatabase, LevelOperation } from "./level-database.ts";

/** DynamoDB's limits, so that a local run refuses the same items as a deployed ledger. */
const MAX_KEY_BYTES = 2048;
const MAX_ITEM_BYTES = 400 * 1024;
/** Upper bound for the names and numbers of an item's attributes. */
const ATTRIBUTE_BYTES = 100;

const ITEMS = "item";
const DUE = "due";
const EXPIRY = "expiry";

/** The value is JSON text inside JSON, as in DynamoDB, so that only a reader parses it. */
const storedSchema = z.object({
  version: z.number().nullable(),
  dueAt: z.number().optional(),
  expiresAt: z.number().optional(),
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
/** Sorts after every index key of this instant. */
const behind = (instant: number): string => indexKey(instant, "\u{10ffff}");

const indexesOf = ({ dueAt, expiresAt }: Pick<StoredItem, "dueAt" | "expiresAt">) => [
  ...(dueAt === undefined ? [] : [{ map: DUE, instant: dueAt }]),
  ...(expiresAt === undefined ? [] : [{ map: EXPIRY, instant: expiresAt }]),
];

const leaveIndexes = (key: string, stored: StoredItem): readonly LevelOperation[] =>
  indexesOf(stored).map(({ map, instant }) => ({ type: "del", map, key: indexKey(instant, key) }));

/** Operations that replace a stored item, if any, and its index entries. */
export const replacing = (
  key: string,
  before: StoredItem | undefined,
  stored: StoredItem,
): readonly LevelOperation[] => [
  ...(before === undefined ? [] : leaveIndexes(key, before)),
  { type: "put", map: ITEMS, key, value: JSON.stringify(stored) },
  ...indexesOf(stored).map(
    ({ map, instant }): LevelOperation => ({
      type: "put",
      map,
      key: indexKey(instant, key),
      value: String(instant),
    }),
  ),
];

const parseStored = (key: string, text: string): StoredItem => {
  try {
    return storedSchema.parse(JSON.parse(text));
  } catch {
    throw new UnreadableItemError(`ledger item ${key} is not readable`);
  }
};

const toItem = (key: string, stored: StoredItem): LedgerItem => {
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

const refuseTooLarge = (key: string, text: string): void => {
  const keyBytes = Buffer.byteLength(key);
  if (keyBytes > MAX_KEY_BYTES) {
    throw new Error(
      `the key of a ledger item has ${keyBytes} bytes; at most ${MAX_KEY_BYTES} are allowed`,
    );
  }
  if (keyBytes + Buffer.byteLength(text) + ATTRIBUTE_BYTES > MAX_ITEM_BYTES) {
    throw new Error("Item size has exceeded the maximum allowed size");
  }
};

/** Serialises work on the same key; work on different keys is concurrent. */
const createKeyLocks = () => {
  const lastOf = new Map<string, Promise<unknown>>();
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const done = (lastOf.get(key) ?? Promise.resolve()).then(work);
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (lastOf.get(key) === settled) lastOf.delete(key);
      });
    lastOf.set(key, settled);
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

    async write({ key, version, value, dueAt, expiresAt }) {
      const text = JSON.stringify(value);
      refuseTooLarge(key, text);
      const due = dueAt === undefined ? {} : { dueAt };
      const expiry = expiresAt === undefined ? {} : { expiresAt };
      return withLock(key, async () => {
        const before = await readStored(key);
        if ((before ? before.version : 0) !== version - 1) return "conflict";
        await database.write(replacing(key, before, { version, ...due, ...expiry, text }));
        return "written";
      });
    },

    async listDue(until, limit) {
      const entries = [];
      for await (const [key, dueAt] of database.entries(DUE, { before: behind(until), limit })) {
        entries.push({ key: keyInIndex(key), dueAt: Number(dueAt) });
      }
      return entries;
    },

    async removeExpired(now) {
      for await (const [entryKey] of database.entries(EXPIRY, { before: sortable(now) })) {
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
