import { clipped } from "../../events/event.ts";
import { isUnreadable, type Stored } from "../../ledger/record.ts";
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

/** Latest reading after this one: the stored one, seen again, if they are equal; else the next number. */
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
 * Item after a reading, with the event of a change in its outbox. A reading that equals the latest one only
 * moves its `lastSeenAt`. A reading that shows a price is compared with the last one that did.
 */
const withReading = (
  item: PriceItem | undefined,
  asked: AskedItem,
  read: TimedReading,
): PriceItem => {
  const { bucket, ...identity } = asked;
  const latest = nextLatest(item?.latest, asked, read);
  const shown = lastShownOf(item, asked.fingerprint);
  const next = { ...identity, latest, outbox: item?.outbox ?? [] };
  if (read.reading.status !== "show") {
    const lastRun = { bucket, outcome: "not-compared" } as const;
    return { ...next, ...(shown && { lastShown: shown }), lastRun };
  }
  if (!shown) return { ...next, lastRun: { bucket, outcome: "first" } };
  const change = changeOf(shown.reading, read.reading);
  if (!change) return { ...next, lastRun: { bucket, outcome: "unchanged" } };
  const event = priceChanged(asked, { before: shown, after: latest, change });
  const outbox = [...next.outbox, event];
  return { ...next, outbox, lastRun: { bucket, outcome: "changed" } };
};

/** Item after a failed run; its readings stay as they are. */
const withFailure = (
  item: PriceItem | undefined,
  { bucket, ...identity }: AskedItem,
  problem: string,
): PriceItem => ({
  outbox: [],
  ...item,
  ...identity,
  lastRun: { bucket, outcome: "failed", problem },
});

/** Maximum conflicting writes: at most two runs and an operator or two write at once. */
const MAX_CONFLICTS = 20;

/** Maximum unpublished events of one item. Each has up to 30 kB, and more would outgrow the ledger item. */
const MAX_UNPUBLISHED = 3;

export interface ItemCapture {
  readonly deps: JobDeps;
  readonly account: string;
  readonly bucket: string;
  /** Retries transient failures. */
  readonly client: Client;
  readonly budget: JobBudget;
}

interface TimedReading {
  readonly reading: PriceReading;
  /** Epoch ms. */
  readonly at: number;
}

/** Change of the item's record. */
type ItemChange = (item: PriceItem | undefined) => PriceItem;

const problemOf = ({ message, problems }: ProviderError): string =>
  clipped([message, ...problems.map(({ path, rule }) => `${path}: ${rule}`)].join("; "));

/**
 * Whether the item only ran out of time, so that the next run of the same bucket asks again. A pause of the
 * account, or one that outlasts the run, counts as that; any other refusal of this item is a failure.
 */
const isOutOfTime = (error: ProviderError, { deps, budget }: ItemCapture): boolean =>
  error.code === "aborted" ||
  error.code === "budget-spent" ||
  error.code === "paused" ||
  (error.disposition === "throttled" &&
    deps.clock.now() + (error.retryAfterMs ?? 0) >= budget.endsAt);

/**
 * Asks the provider, and returns its answer as a change of the item's record. Asks only when the record
 * has room for the event of a change.
 * @returns undefined when the item ran out of time
 */
const askForChange = async (
  capture: ItemCapture,
  order: PriceOrder,
  { asked, before }: { readonly asked: AskedItem; readonly before: PriceItem | undefined },
): Promise<ItemChange | undefined> => {
  const unpublished = before?.outbox.length ?? 0;
  if (unpublished >= MAX_UNPUBLISHED) {
    const problem = `not read: ${unpublished} PriceChanged events of this item are not published yet; a run after that reads it`;
    return (item) => withFailure(item, asked, problem);
  }
  try {
    const reading = await askPrice(capture.client, order);
    const at = capture.deps.clock.now();
    return (item) => withReading(item, asked, { reading, at });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (isOutOfTime(error, capture)) return undefined;
    const problem = problemOf(error);
    return (item) => withFailure(item, asked, problem);
  }
};

/**
 * Whether a run of this bucket or a later one has recorded the item. The reading of an earlier run is out
 * of date, and would publish a change backwards.
 */
const isRecorded = ({ lastRun }: PriceItem, bucket: string): boolean => lastRun.bucket >= bucket;

/** Copies the latest reading to a record of its own, before a new one replaces it. Idempotent. */
const keepLatest = async (
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
 * Changes the item's record, unless another run was faster.
 * @param before the record as it was read; after a conflict it is read again
 * @returns the stored record
 */
const record = async (
  deps: JobDeps,
  { asked, before }: { readonly asked: AskedItem; readonly before: Stored<PriceItem> | undefined },
  change: ItemChange,
): Promise<PriceItem> => {
  const key = priceItemKey(asked.account, asked.name);
  let stored = before;
  for (let tries = 0; tries < MAX_CONFLICTS; tries++) {
    if (stored && isRecorded(stored.value, asked.bucket)) return stored.value;
    const next = change(stored?.value);
    if (stored && next.latest?.number !== stored.value.latest?.number) {
      await keepLatest(deps, stored.value);
    }
    if (await priceItems.write(deps.ledger, key, stored, next)) return next;
    stored = await priceItems.read(deps.ledger, key);
  }
  throw new Error(`too many conflicting writes on the price ${key}; a retry continues`);
};

/**
 * Reads one price, records it and publishes a change. A record of this bucket or a later one stays as it
 * is.
 * @returns the item's record; undefined when the item ran out of time
 * @throws Error when the ledger fails
 */
export const captureItem = async (
  capture: ItemCapture,
  { name, order }: WatchlistItem,
): Promise<PriceItem | undefined> => {
  const { deps, account, bucket } = capture;
  const key = priceItemKey(account, name);
  const asked = { account, name, bucket, kind: order.kind, fingerprint: fingerprintOf(order) };
  let before: Stored<PriceItem> | undefined;
  try {
    before = await priceItems.read(deps.ledger, key);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // One record must not keep the run from its end. It stays as it is.
    deps.log.warn("price not read: this version cannot read its record", { key });
    return withFailure(undefined, asked, "this version cannot read the record of its price");
  }
  let recorded = before?.value;
  if (!recorded || !isRecorded(recorded, bucket)) {
    const change = await askForChange(capture, order, { asked, before: recorded });
    if (!change) return undefined;
    recorded = await record(deps, { asked, before }, change);
  }
  if (recorded.outbox.length > 0) await priceItems.publishOrLeave(deps, key);
  return recorded;
};
