import * as z from "zod";
import {
  type Ledger,
  type LedgerItem,
  type Listing,
  UnreadableItemError,
} from "../platform/ports/ledger.ts";
import { type ListFields, listingOf } from "./listing.ts";

/** A stored value, with the version that a replacing write must name. */
export interface Stored<T> {
  readonly version: number;
  /** The time of its entry in the due index, epoch ms. */
  readonly dueAt?: number | undefined;
  /** When the store may delete it, epoch ms; absent: never. */
  readonly expiresAt?: number | undefined;
  readonly value: T;
}

/** An item as it was read or written a moment ago; `absent`: there was none. */
export type Known<T> = Stored<T> | "absent";

/** A change that conflicts this often fails; a redelivered message or the poller tries again. */
const MAX_CONFLICTS = 20;

/** Whether a read failed because this version cannot read the item's format. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof z.ZodError || error instanceof UnreadableItemError;

/** A record; undefined for none, and for one that only a newer version can read. */
export const readable = async <T>(read: Promise<T | undefined>): Promise<T | undefined> => {
  try {
    return await read;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
};

type JsonRecord = Record<string, z.core.util.JSONType>;

/**
 * A JSON object inside a stored value, taken as it is. The store returns parsed JSON, so a walk through every
 * value could find nothing else, and costs ten times as much.
 */
export const storedJsonObject = z.custom<JsonRecord>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "not a JSON object",
);

/** Clocks of processes differ by far less. */
const MAX_AHEAD_MS = 60_000;

/**
 * Whether a stored time comes from a clock that was wrong. Processes that waited for such a time would do nothing
 * until then, so they ignore it.
 */
export const isFarAhead = (at: number, now: number): boolean => at > now + MAX_AHEAD_MS;

export interface RecordRules<S extends z.ZodType> {
  /** Prefix of the item keys of this kind, without `#`. */
  readonly kind: string;
  readonly schema: S;
  /** When the poller must handle it again, epoch ms. */
  readonly dueAt: (value: z.output<S>) => number | undefined;
  /**
   * The earliest and the latest time (epoch ms) at which an entry of the due index may stay, which saves the two units
   * of a move; absent: it is always moved to `dueAt`.
   */
  readonly keepsEntry?: (value: z.output<S>, dueAt: number) => readonly [from: number, to: number];
  /** When the store may delete it, epoch ms; absent: never. */
  readonly expiresAt?: (value: z.output<S>) => number | undefined;
  /** The list entry of a value; absent: the list leaves this kind out. */
  readonly listing?: (value: z.output<S>, key: string) => ListFields | undefined;
  /** The form in which the store keeps a value; absent: the value itself. */
  readonly storedForm?: StoredForm<z.output<S>>;
}

/** An item without its version and times. Its key is given without the kind. */
export type ItemContent = Pick<LedgerItem, "key" | "value" | "listing">;

/** A shorter form of values, because each kilobyte of an item costs a write unit. */
interface StoredForm<T> {
  /** Leaves out what the rest of the item shows. */
  readonly toStored: (value: T) => object;
  /** Fills in what is left out, before the schema checks it. Also takes a value in its whole form. */
  readonly fromStored: (content: ItemContent) => unknown;
}

/** Typed reading and writing of one kind of ledger item. Keys are given without the kind. */
export const recordKind = <S extends z.ZodType>(rules: RecordRules<S>) => {
  type T = z.output<S>;
  const itemKey = (key: string): string => `${rules.kind}#${key}`;

  const listing = (key: string, value: T): Listing | undefined => {
    const fields = rules.listing?.(value, key);
    return fields && listingOf(itemKey(key), fields);
  };

  const fromItem = ({ key: ofItem, value, listing }: ItemContent): T => {
    const key = ofItem.slice(itemKey("").length);
    const whole = rules.storedForm?.fromStored({ key, value, listing }) ?? value;
    return z.parse(rules.schema, whole);
  };

  const read = async (ledger: Ledger, key: string): Promise<Stored<T> | undefined> => {
    const item = await ledger.read(itemKey(key));
    if (!item) return undefined;
    const { version, dueAt, expiresAt } = item;
    return { version, dueAt, expiresAt, value: fromItem(item) };
  };

  /** The time of the item's entry in the due index after a write of `value`. */
  const entryOf = (value: T, previous: number | undefined): number | undefined => {
    const dueAt = rules.dueAt(value);
    if (dueAt === undefined || previous === undefined) return dueAt;
    const [from, to] = rules.keepsEntry?.(value, dueAt) ?? [dueAt, dueAt];
    return previous >= from && previous <= to ? previous : dueAt;
  };

  /** Creates (no `previous`) or replaces; undefined when another write was faster. */
  const write = async (
    ledger: Ledger,
    key: string,
    previous: Stored<T> | undefined,
    value: T,
  ): Promise<Stored<T> | undefined> => {
    const version = (previous?.version ?? 0) + 1;
    const dueAt = entryOf(value, previous?.dueAt);
    const expiresAt = rules.expiresAt?.(value);
    const written = await ledger.write({
      key: itemKey(key),
      version,
      dueAt,
      expiresAt,
      listing: listing(key, value),
      // A copy in the form that the store keeps: without absent fields.
      value: JSON.parse(JSON.stringify(rules.storedForm?.toStored(value) ?? value)),
    });
    return written === "written" ? { version, dueAt, expiresAt, value } : undefined;
  };

  const change = async (
    ledger: Ledger,
    key: string,
    next: (value: T | undefined) => T,
    known?: Known<T>,
    pause?: (tries: number) => Promise<void>,
  ): Promise<Stored<T>> => {
    let previous = known === "absent" ? undefined : (known ?? (await read(ledger, key)));
    for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
      const value = next(previous?.value);
      const isNews = !previous || value !== previous.value;
      const stored = isNews ? await write(ledger, key, previous, value) : previous;
      // What a caller has read may be old, so it never shows that nothing is to be written.
      if (stored && stored !== known) return stored;
      await pause?.(tries + 1);
      previous = await read(ledger, key);
    }
    throw new Error(`too many conflicting writes on ${itemKey(key)}`);
  };

  return {
    kind: rules.kind,
    /** The key of an item in the ledger. */
    itemKey,
    dueAt: rules.dueAt,
    /** The value of an item of this kind. @throws ZodError when this version cannot read it */
    fromItem,
    /** The listing that a write of this item would have. @throws ZodError for an unreadable value */
    listingOf: (item: LedgerItem): Listing | undefined =>
      listing(item.key.slice(itemKey("").length), fromItem(item)),
    read,
    write,
    /**
     * Applies a pure change to the newest value until it is stored, and returns the stored value. A
     * change that returns the same object writes nothing.
     * @param known the item as it was read or written a moment ago, which saves a read if nothing has
     * changed it; default: it is read
     * @param pause waits before the item is read again, after this number of tries; for items that many processes
     * write; default: no wait
     */
    change,
    /** As `change`, for an item that exists. @throws Error when it does not */
    update: (
      ledger: Ledger,
      key: string,
      next: (value: T) => T,
      known?: Stored<T>,
    ): Promise<Stored<T>> =>
      change(
        ledger,
        key,
        (value) => {
          if (value === undefined) throw new Error(`no ledger item ${itemKey(key)}`);
          return next(value);
        },
        known,
      ),
  };
};
