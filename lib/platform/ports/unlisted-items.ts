import type { LedgerItem, Listing } from "./ledger.ts";

/** A part of the ledger, in no particular order. */
interface UnlistedPage {
  /** Keys of the items without a listing. */
  readonly keys: readonly string[];
  /** Number of items that the page has examined, listed ones and other kinds included. */
  readonly examined: number;
  /** Where the next page begins; absent at the end of the ledger. */
  readonly cursor?: string;
}

/** Maintenance of the ledger's list, for items that an older version has written without their listing. */
export interface UnlistedItems {
  /**
   * Reads one page of the ledger. Eventually consistent, so re-read an item before you act on its key.
   * @param prefixes beginnings of the keys to return
   * @param cursor of the page before; undefined for the first page
   */
  find(prefixes: readonly string[], cursor: string | undefined): Promise<UnlistedPage>;
  /**
   * Adds the listing to the item and leaves its version and value unchanged, so that a function that has read
   * the item can still write its next version.
   * @returns `conflict`, without a change, unless the item has exactly this version and no listing
   */
  addListing(
    item: Pick<LedgerItem, "key" | "version">,
    listing: Listing,
  ): Promise<"added" | "conflict">;
}
