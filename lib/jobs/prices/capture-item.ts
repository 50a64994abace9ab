import { clipped } from "../../events/event.ts";
import type { Stored } from "../../ledger/record.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import type { Client } from "../../provider/client.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { askPrice, fingerprintOf } from "./ask.ts";
import { type AskedItem, type ItemStep, noteFailure, noteReading } from "./item-transitions.ts";
import {
  type PriceItem,
  priceItemKey,
  priceItems,
  priceReadingKey,
  priceReadings,
} from "./price.ts";
import { priceChanged } from "./price-events.ts";
import type { WatchlistItem } from "./watchlist.ts";

/** Two runs at once, and a person or two; more writers there are none. */
const MAX_CONFLICTS = 20;

/**
 * So many changes may wait to be published, each an event of 30 kB at most, or the record would
 * outgrow the ledger while the bus is away.
 */
const MAX_UNTOLD_CHANGES = 3;

export interface ItemCapture {
  readonly deps: JobDeps;
  readonly account: string;
  readonly bucket: string;
  /** Repeats what may pass later. */
  readonly client: Client;
  readonly budget: JobBudget;
}

type Note = (item: PriceItem | undefined) => ItemStep;

const problemOf = ({ message, problems }: ProviderError): string =>
  clipped([message, ...problems.map(({ path, rule }) => `${path}: ${rule}`)].join("; "));

/**
 * Whether only the time was too short: the next run of the same bucket asks again. Of the pauses that
 * the provider asks for, one for all requests takes the time; one for this item alone is a failure.
 */
const isOutOfTime = (error: ProviderError, { deps, budget }: ItemCapture): boolean =>
  error.code === "aborted" ||
  error.code === "budget-spent" ||
  error.code === "paused" ||
  (error.disposition === "throttled" &&
    deps.clock.now() + (error.retryAfterMs ?? 0) >= budget.endsAt);

/** What the provider says, as a change of the item's record; undefined when there was no time for it. */
const askProvider = async (
  capture: ItemCapture,
  { order }: WatchlistItem,
  asked: AskedItem,
): Promise<Note | undefined> => {
  try {
    const reading = await askPrice(capture.client, order);
    const at = capture.deps.clock.now();
    return (item) => noteReading(item, asked, { reading, at });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (isOutOfTime(error, capture)) return undefined;
    const problem = problemOf(error);
    return (item) => noteFailure(item, asked, problem);
  }
};

/** What there is to note of an item; the provider is asked only when there is room for its answer. */
const findNote = async (
  capture: ItemCapture,
  item: WatchlistItem,
  { asked, before }: { readonly asked: AskedItem; readonly before: PriceItem | undefined },
): Promise<Note | undefined> => {
  const untold = before?.outbox.length ?? 0;
  if (untold < MAX_UNTOLD_CHANGES) return askProvider(capture, item, asked);
  const problem = `${untold} changes of this price are still to be published; it is read again after that`;
  return (stored) => noteFailure(stored, asked, problem);
};

/**
 * Whether this run, or one of a later time, has recorded the item: what an earlier one has read is
 * news no more, and would tell a change backwards.
 */
const isRecorded = ({ lastRun }: PriceItem, bucket: string): boolean => lastRun.bucket >= bucket;

/** Puts the latest reading where it stays, before another one takes its place. Repeated, it is the same. */
const putAway = async (
  { ledger }: JobDeps,
  { account, name, latest }: PriceItem,
): Promise<void> => {
  if (!latest) return;
  const key = priceReadingKey(account, name, latest.number);
  await priceReadings.change(ledger, key, (kept) =>
    kept && kept.lastSeenAt >= latest.lastSeenAt ? kept : latest,
  );
};

/** The record after the note, with the event of a change in its outbox. */
const withEvent = ({ item, changed }: ItemStep, asked: AskedItem): PriceItem =>
  changed ? { ...item, outbox: [...item.outbox, priceChanged(asked, changed)] } : item;

/**
 * Writes the note unless another run was faster; answers what is recorded.
 * @param before the record as it was read: the write holds only if it still is
 */
const record = async (
  deps: JobDeps,
  { asked, before }: { readonly asked: AskedItem; readonly before: Stored<PriceItem> | undefined },
  note: Note,
): Promise<PriceItem> => {
  const key = priceItemKey(asked.account, asked.name);
  let stored = before;
  for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
    if (stored && isRecorded(stored.value, asked.bucket)) return stored.value;
    const next = withEvent(note(stored?.value), asked);
    if (stored && next.latest?.number !== stored.value.latest?.number) {
      await putAway(deps, stored.value);
    }
    if (await priceItems.write(deps.ledger, key, stored, next)) return next;
    stored = await priceItems.read(deps.ledger, key);
  }
  throw new Error(`too many conflicting writes on the price ${key}`);
};

/**
 * Reads one price, records it and tells of a change. What this bucket has recorded already, or a later
 * one, is left as it is. Answers the item's record; undefined when there was no time for it.
 * @throws Error when the ledger fails
 */
export const captureItem = async (
  capture: ItemCapture,
  item: WatchlistItem,
): Promise<PriceItem | undefined> => {
  const { deps, account, bucket } = capture;
  const key = priceItemKey(account, item.name);
  const { name, order } = item;
  const asked = { account, name, bucket, kind: order.kind, fingerprint: fingerprintOf(order) };
  const before = await priceItems.read(deps.ledger, key);
  let recorded = before?.value;
  if (!recorded || !isRecorded(recorded, bucket)) {
    const note = await findNote(capture, item, { asked, before: recorded });
    if (!note) return undefined;
    recorded = await record(deps, { asked, before }, note);
  }
  if (recorded.outbox.length > 0) await priceItems.publishOrLeave(deps, key);
  return recorded;
};
