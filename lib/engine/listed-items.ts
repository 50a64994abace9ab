import type { LedgerItem, Listing } from "../platform/ports/ledger.ts";
import { commands } from "./command.ts";
import { rejections } from "./rejection.ts";

/** The kinds of records that the list shows. */
const LISTED = [commands, rejections];

/** Beginnings of the keys of items that the list may show. */
export const LISTED_PREFIXES: readonly string[] = LISTED.map(({ kind }) => `${kind}#`);

/**
 * The listing that an item of these kinds has once this version writes it; undefined for an item outside the
 * list.
 * @throws ZodError for an item that this version cannot read
 */
export const listingOfItem = (item: LedgerItem): Listing | undefined =>
  LISTED.find(({ kind }) => item.key.startsWith(`${kind}#`))?.listingOf(item);
