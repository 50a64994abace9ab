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
  readonly value: T;
}

/** A change that conflicts this often fails; a redelivered message or the poller tries again. */
const MAX_CONFLICTS = 20;

/** Whether a read failed because this version cannot read the item's format. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof z.ZodError || error instanceof UnreadableItemError;

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
  /** When the store may delete it, epoch ms; absent: never. */
  readonly expiresAt?: (value: z.output<S>) => number | undefined;
  /** The list entry of a value; absent: the list leaves this kind out. */
  readonly listing?: (value: z.output<S>, key: string) => ListFields | undefined;
}

/** Typed reading and writing of one kind of ledger item. Keys are given without the kind. */
export const recordKind = <S extends z.ZodType>(rules: RecordRules<S>) => {
  type T = z.output<S>;
  const itemKey = (key: string): string => `${rules.kind}#${key}`;

  const listing = (key: string, value: T): Listing | undefined => {
    const fields = rules.listing?.(value, key);
    return fields && listingOf(itemKey(key), fields);
  };

  const read = async (ledger: Ledger, key: string): Promise<Stored<T> | undefined> => {
    const item = await ledger.read(itemKey(key));
    return item && { version: item.version, value: z.parse(rules.schema, item.value) };
  };

  /** Creates (no `previous`) or replaces; undefined when another write was faster. */
  const write = async (
    ledger: Ledger,
    key: string,
    previous: Stored<T> | undefined,
    value: T,
  ): Promise<Stored<T> | undefined> => {
    const version = (previous?.version ?? 0) + 1;
    const written = await ledger.write({
      key: itemKey(key),
      version,
      dueAt: rules.dueAt(value),
      expiresAt: rules.expiresAt?.(value),
      listing: listing(key, value),
      // A copy in the form that the store keeps: without absent fields.
      value: JSON.parse(JSON.stringify(value)),
    });
    return written === "written" ? { version, value } : undefined;
  };

  const change = async (
    ledger: Ledger,
    key: string,
    next: (value: T | undefined) => T,
  ): Promise<Stored<T>> => {
    for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
      const previous = await read(ledger, key);
      const value = next(previous?.value);
      if (previous && value === previous.value) return previous;
      const stored = await write(ledger, key, previous, value);
      if (stored) return stored;
    }
    throw new Error(`too many conflicting writes on ${itemKey(key)}`);
  };

  return {
    kind: rules.kind,
    dueAt: rules.dueAt,
    /** The listing that a write of this item would have. @throws ZodError for an unreadable value */
    listingOf: ({ key, value }: LedgerItem): Listing | undefined =>
      listing(key.slice(itemKey("").length), z.parse(rules.schema, value)),
    read,
    write,
    /**
     * Applies a pure change to the newest value until it is stored, and returns the stored value. A
     * change that returns the same object writes nothing.
     */
    change,
    /** As `change`, for an item that exists. @throws Error when it does not */
    update: (ledger: Ledger, key: string, next: (value: T) => T): Promise<Stored<T>> =>
      change(ledger, key, (value) => {
        if (value === undefined) throw new Error(`no ledger item ${itemKey(key)}`);
        return next(value);
      }),
  };
};
