import { clipped } from "../../events/event.ts";
import type { Stored } from "../../ledger/record.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import type { Client } from "../../provider/client.ts";
import { ProviderError } from "../../provider/provider-error.ts";
import { changeOf, isSameReading } from "./change.ts";
import {
  type AskedItem,
  type PriceItem,
  type PriceReading,
  priceItemKey,
  priceItems,
  priceReadingKey,
  priceReadings,
  type StoredReading,
} from "./price.ts";
import { priceChanged } from "./price-events.ts";
import { askPrice, fingerprintOf } from "./reading.ts";
import type { PriceOrder, WatchlistItem } from "./watchlist.ts";

/** The newest reading of this order that showed a price. */
const lastShownOf = (
  item: PriceItem | undefined,
  fingerprint: string,
): StoredReading | undefined => {
  const shown = item?.latest?.reading.status === "show" ? item.latest : item?.lastShown;
  return shown?.fingerprint === fingerprint ? shown : undefined;
};

/** The newest reading after this one: the same seen again, or the next number. */
const nextLatest = (
  latest: StoredReading | undefined,
  { kind, fingerprint }: AskedItem,
  { reading, at }: TimedReading,
): StoredReading =>
  latest?.fingerprint === fingerprint && isSameReading(latest.reading, reading)
    ? { ...latest, lastSeenAt: Math.max(latest.lastSeenAt, at) }
    : {
        number: (latest?.number ?? 0) + 1,
        kind,
        fingerprint,
        reading,
        readAt: at,
        lastSeenAt: at,
      };

/**
 * Notes a reading, and puts the event of a change into the outbox. A reading that says what the latest
 * one says is only noted as seen; one that shows a price is compared with the last one that did.
 */
const noteReading = (
  item: PriceItem | undefined,
  asked: AskedItem,
  read: TimedReading,
): PriceItem => {
  const { bucket, ...identity } = asked;
  const latest = nextLatest(item?.latest, asked, read);
  const shown = lastShownOf(item, asked.fingerprint);
  const noted = { ...identity, latest, outbox: item?.outbox ?? [] };
  if (read.reading.status !== "show") {
    const lastRun = { bucket, outcome: "not-compared" } as const;
    return { ...noted, ...(shown && { lastShown: shown }), lastRun };
  }
  if (!shown) return { ...noted, lastRun: { bucket, outcome: "first" } };
  const change = changeOf(shown.reading, read.reading);
  if (!change) return { ...noted, lastRun: { bucket, outcome: "unchanged" } };
  const event = priceChanged(asked, { before: shown, after: latest, change });
  const outbox = [...noted.outbox, event];
  return { ...noted, outbox, lastRun: { bucket, outcome: "changed" } };
};

/** Notes that there is no price to be had; the readings stay as they are. */
const noteFailure = (
  item: PriceItem | undefined,
  { bucket, ...identity }: AskedItem,
  problem: string,
): PriceItem => ({
  outbox: [],
  ...item,
  ...identity,
  lastRun: { bucket, outcome: "failed", problem },
});

/** There are no more writers than two runs at once, and an operator or two. */
const MAX_CONFLICTS = 20;

/** Events of 30 kB at most that may wait while the bus is away; more would outgrow the ledger's item. */
const MAX_UNPUBLISHED = 3;

export interface ItemCapture {
  readonly deps: JobDeps;
  readonly account: string;
  readonly bucket: string;
  /** Retries what may pass later. */
  readonly client: Client;
  readonly budget: JobBudget;
}

interface TimedReading {
  readonly reading: PriceReading;
  /** Epoch ms. */
  readonly at: number;
}

type Note = (item: PriceItem | undefined) => PriceItem;

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

/**
 * The provider's answer as a change of the item's record. The provider is asked only when the record has
 * room for the event of a change.
 * @returns undefined when there was no time for an answer
 */
const findNote = async (
  capture: ItemCapture,
  order: PriceOrder,
  { asked, before }: { readonly asked: AskedItem; readonly before: PriceItem | undefined },
): Promise<Note | undefined> => {
  const unpublished = before?.outbox.length ?? 0;
  if (unpublished >= MAX_UNPUBLISHED) {
    const problem = `${unpublished} changes of this price are still to be published; it is read again after that`;
    return (item) => noteFailure(item, asked, problem);
  }
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

/**
 * Whether this run, or a run of a later time, has recorded the item: an earlier run's reading is out of
 * date, and would publish a change backwards.
 */
const isRecorded = ({ lastRun }: PriceItem, bucket: string): boolean => lastRun.bucket >= bucket;

/** Stores the latest reading by itself, before another one takes its place. Repeatable. */
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
    const next = note(stored?.value);
    if (stored && next.latest?.number !== stored.value.latest?.number) {
      await putAway(deps, stored.value);
    }
    if (await priceItems.write(deps.ledger, key, stored, next)) return next;
    stored = await priceItems.read(deps.ledger, key);
  }
  throw new Error(`too many conflicting writes on the price ${key}`);
};

/**
 * Reads one price, records it and publishes a change. What this bucket, or a later one, has recorded
 * already stays as it is.
 * @returns the item's record; undefined when there was no time for it
 * @throws Error when the ledger fails
 */
export const captureItem = async (
  capture: ItemCapture,
  { name, order }: WatchlistItem,
): Promise<PriceItem | undefined> => {
  const { deps, account, bucket } = capture;
  const key = priceItemKey(account, name);
  const asked = { account, name, bucket, kind: order.kind, fingerprint: fingerprintOf(order) };
  const before = await priceItems.read(deps.ledger, key);
  let recorded = before?.value;
  if (!recorded || !isRecorded(recorded, bucket)) {
    const note = await findNote(capture, order, { asked, before: recorded });
    if (!note) return undefined;
    recorded = await record(deps, { asked, before }, note);
  }
  if (recorded.outbox.length > 0) await priceItems.publishOrLeave(deps, key);
  return recorded;
};
