import { LISTED_PREFIXES, listingOfItem } from "../engine/listed-items.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { UnlistedItems } from "../platform/ports/unlisted-items.ts";

/** Each conflict is a write of a function, and functions of this version write the listing. */
const MAX_CONFLICTS = 20;

export interface BackfillDeps {
  readonly ledger: Ledger;
  readonly unlisted: UnlistedItems;
  readonly clock: Clock;
  /** Capacity units that the calls of these ports have consumed. */
  readonly consumedUnits: () => number;
}

export interface BackfillOptions {
  /** Cursor of an interrupted backfill; undefined: the whole ledger. */
  readonly cursor: string | undefined;
  /** Average of the capacity units, read and write together, that it may consume per second. */
  readonly unitsPerSecond: number;
  /** Ends the backfill after its current page. */
  readonly signal: AbortSignal;
}

/** Sums since the start of the backfill. */
export interface BackfillProgress {
  /** Items of the ledger, of all kinds. */
  readonly examined: number;
  /** Items that the list shows now, and did not show before. */
  readonly added: number;
  /** Items that this version cannot read; they stay outside the list. */
  readonly unreadable: number;
  /** Where to continue after an interruption; absent at the end of the ledger. */
  readonly cursor?: string;
}

type Outcome = "added" | "unchanged" | "unreadable";

/** @throws Error when the item is rewritten faster than it can be listed */
const addMissing = async (
  { ledger, unlisted }: BackfillDeps,
  key: string,
): Promise<"added" | "unchanged"> => {
  for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
    const item = await ledger.read(key);
    const listing = item?.listing === undefined && item && listingOfItem(item);
    if (!listing) return "unchanged";
    if ((await unlisted.addListing(item, listing)) === "added") return "added";
  }
  throw new Error(`too many conflicting writes on ${key}`);
};

const outcomeOf = async (deps: BackfillDeps, key: string): Promise<Outcome> => {
  try {
    return await addMissing(deps, key);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return "unreadable";
  }
};

/**
 * Adds every command and rejection that an older version has written to the list. Yields its progress after each
 * page of the ledger. It may be interrupted and repeated at any time, while functions run.
 */
export async function* backfillList(
  deps: BackfillDeps,
  { cursor: first, unitsPerSecond, signal }: BackfillOptions,
): AsyncGenerator<BackfillProgress> {
  const { unlisted, clock, consumedUnits } = deps;
  const startedAt = clock.now();
  const consumedBefore = consumedUnits();
  let sums = { examined: 0, added: 0, unreadable: 0 };
  let cursor = first;
  do {
    const page = await unlisted.find(LISTED_PREFIXES, cursor);
    const outcomes = await Promise.all(page.keys.map((key) => outcomeOf(deps, key)));
    const count = (wanted: Outcome): number => outcomes.filter((each) => each === wanted).length;
    sums = {
      examined: sums.examined + page.examined,
      added: sums.added + count("added"),
      unreadable: sums.unreadable + count("unreadable"),
    };
    cursor = page.cursor;
    yield { ...sums, ...(cursor !== undefined && { cursor }) };
    const allowedMs = ((consumedUnits() - consumedBefore) / unitsPerSecond) * 1_000;
    if (cursor !== undefined) await clock.sleep(startedAt + allowedMs - clock.now(), signal);
  } while (cursor !== undefined && !signal.aborted);
}
