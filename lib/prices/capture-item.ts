import type { Client } from "../client/client.ts";
import { ProviderError } from "../client/provider-error.ts";
import { clipped } from "../events/listing.ts";
import {
  type PriceItem,
  priceItemKey,
  priceItems,
  priceReadingKey,
  priceReadings,
} from "../ledger/price.ts";
import type { JobBudget, JobDeps } from "../ports/job.ts";
import { askPrice, fingerprintOf } from "./ask.ts";
import { type AskedItem, type ItemStep, noteFailure, noteReading } from "./item-transitions.ts";
import { priceChanged } from "./price-events.ts";
import { publishRecorded } from "./publish-recorded.ts";
import type { WatchlistItem } from "./watchlist.ts";

/** Two runs at once, and a person or two; more writers there are none. */
const MAX_CONFLICTS = 20;

export interface ItemCapture {
  readonly deps: JobDeps;
  readonly account: string;
  readonly bucket: string;
  /** Keeps the account's request budget. */
  readonly client: Client;
  readonly budget: JobBudget;
}

type Note = (item: PriceItem | undefined) => ItemStep;

const problemOf = ({ message, problems }: ProviderError): string =>
  clipped([message, ...problems.map(({ path, rule }) => `${path}: ${rule}`)].join("; "));

/** Whether only the time was too short: the next run of the same bucket asks again. */
const isOutOfTime = (error: ProviderError, { deps, budget }: ItemCapture): boolean => {
  if (error.code === "aborted") return true;
  const mayPass = error.disposition === "transient" || error.disposition === "throttled";
  return mayPass && deps.clock.now() + (error.retryAfterMs ?? 0) >= budget.endsAt;
};

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

/** Writes the note unless another run of the same bucket was faster; answers what is recorded. */
const record = async (deps: JobDeps, asked: AskedItem, note: Note): Promise<PriceItem> => {
  const key = priceItemKey(asked.account, asked.name);
  for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
    const stored = await priceItems.read(deps.ledger, key);
    if (stored?.value.lastRun.bucket === asked.bucket) return stored.value;
    const next = withEvent(note(stored?.value), asked);
    if (stored && next.latest?.number !== stored.value.latest?.number) {
      await putAway(deps, stored.value);
    }
    if (await priceItems.write(deps.ledger, key, stored, next)) return next;
  }
  throw new Error(`too many conflicting writes on the price ${key}`);
};

/**
 * Reads one price, records it and tells of a change. What this bucket has recorded already is left as
 * it is. Answers the item's record; undefined when there was no time for it.
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
  const before = (await priceItems.read(deps.ledger, key))?.value;
  const note =
    before?.lastRun.bucket === bucket ? undefined : await askProvider(capture, item, asked);
  const recorded = note ? await record(deps, asked, note) : before;
  if (recorded?.lastRun.bucket !== bucket) return undefined;
  if (recorded.outbox.length > 0) await publishRecorded(deps, priceItems, key);
  return recorded;
};
