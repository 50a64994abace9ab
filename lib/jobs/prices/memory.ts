import pLimit from "p-limit";
import * as z from "zod";
import { PRICE_STATUSES } from "../../contract/prices.ts";
import { isoText } from "../../events/event.ts";
import { readable } from "../../ledger/record.ts";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { changeOf, totalOf } from "./change.ts";
import {
  PRICE_KINDS,
  PRICE_OUTCOMES,
  type PriceItem,
  priceItemKey,
  priceItems,
  priceNames,
  priceReadingKey,
  priceReadings,
  type StoredReading,
} from "./price.ts";

/*
 * Views of stored prices, for the command line and scripts. Plain JSON: amounts are decimal text, instants
 * ISO 8601, and an absent value is null.
 */

const amount = z.string().nullable();

/** Total of a reading, by hour and by month. */
const totalSchema = z.object({ currency: amount, per_hour: amount, per_month: amount });

/** One stored reading. */
export const readingViewSchema = z.object({
  number: z.int(),
  kind: z.enum(PRICE_KINDS),
  readAt: z.string(),
  /** Time of the last equal reading. */
  lastSeenAt: z.string(),
  status: z.enum(PRICE_STATUSES),
  total: totalSchema,
  amounts: z.record(z.string(), amount),
});

/** Item that is or was on the watchlist. */
export const priceViewSchema = z.object({
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  /** Null until the current order has a reading. */
  latest: readingViewSchema.omit({ amounts: true }).nullable(),
  lastRun: z.object({
    bucket: z.string(),
    outcome: z.enum(PRICE_OUTCOMES),
    problem: z.string().nullable(),
  }),
});

/** Price that differs from the one shown before it. */
export const priceChangeViewSchema = z.object({
  name: z.string(),
  kind: z.enum(PRICE_KINDS),
  number: z.int(),
  readAt: z.string(),
  previousReadAt: z.string(),
  before: totalSchema,
  after: totalSchema,
  /** Change of the monthly total, such as `12.50` or `-3.10`; null where the totals cannot be compared. */
  percent: z.string().nullable(),
  categories: z.array(z.object({ category: z.string(), before: amount, after: amount })),
});

export type ReadingView = z.output<typeof readingViewSchema>;
export type PriceView = z.output<typeof priceViewSchema>;
export type PriceChangeView = z.output<typeof priceChangeViewSchema>;
const MAX_READS_AT_ONCE = 8;

const viewOf = ({ reading, ...stored }: StoredReading): ReadingView => ({
  number: stored.number,
  kind: stored.kind,
  readAt: isoText(stored.readAt),
  lastSeenAt: isoText(stored.lastSeenAt),
  status: reading.status,
  total: totalOf(reading),
  amounts: reading.amounts,
});

/** Latest reading without its amounts; null if it belongs to an earlier order under the name. */
const latestOf = ({ latest, fingerprint }: PriceItem): PriceView["latest"] => {
  if (latest?.fingerprint !== fingerprint) return null;
  const { amounts: _, ...view } = viewOf(latest);
  return view;
};

const priceViewOf = (item: PriceItem): PriceView => ({
  name: item.name,
  kind: item.kind,
  latest: latestOf(item),
  lastRun: {
    bucket: item.lastRun.bucket,
    outcome: item.lastRun.outcome,
    problem: item.lastRun.problem ?? null,
  },
});

/** Items of all names that were ever watched, or of one, sorted by name. */
const itemsOf = async (
  ledger: Ledger,
  account: string,
  name?: string,
): Promise<readonly PriceItem[]> => {
  const names =
    name === undefined ? ((await priceNames.read(ledger, account))?.value.names ?? []) : [name];
  const stored = await pLimit(MAX_READS_AT_ONCE).map(names.toSorted(), (name) =>
    readable(priceItems.read(ledger, priceItemKey(account, name))),
  );
  // A name is written before its item, which may still be missing. An item of a newer version is left out.
  return stored.flatMap((item) => item?.value ?? []);
};

const readEarlier = async (
  ledger: Ledger,
  { account, name }: PriceItem,
  number: number,
): Promise<StoredReading | undefined> =>
  (await readable(priceReadings.read(ledger, priceReadingKey(account, name, number))))?.value;

/** Every reading under the item's name, newest first. */
const readingsOf = async (ledger: Ledger, item: PriceItem): Promise<readonly StoredReading[]> => {
  const { latest } = item;
  if (!latest) return [];
  const earlier = Array.from({ length: latest.number - 1 }, (_, back) => latest.number - 1 - back);
  const stored = await pLimit(MAX_READS_AT_ONCE).map(earlier, (number) =>
    readEarlier(ledger, item, number),
  );
  return [latest, ...stored.flatMap((reading) => reading ?? [])];
};

/** Every item that is or was on the account's watchlist, with its latest reading, by name. */
export const listPrices = async (ledger: Ledger, account: string): Promise<readonly PriceView[]> =>
  (await itemsOf(ledger, account)).map(priceViewOf);

/** Every stored reading of one name, newest first; undefined for a name that was never watched. */
export const priceHistory = async (
  ledger: Ledger,
  account: string,
  name: string,
): Promise<readonly ReadingView[] | undefined> => {
  const item = await priceItems.read(ledger, priceItemKey(account, name));
  return item && (await readingsOf(ledger, item.value)).map(viewOf);
};

/** Like `readingsOf`, but reads one by one, so that the caller can stop early. */
async function* newestFirst(ledger: Ledger, item: PriceItem): AsyncGenerator<StoredReading> {
  if (item.latest) yield item.latest;
  for (let number = (item.latest?.number ?? 0) - 1; number > 0; number--) {
    const reading = await readEarlier(ledger, item, number);
    if (reading) yield reading;
  }
}

const changeViewsOf = (
  name: string,
  before: StoredReading,
  after: StoredReading,
): readonly PriceChangeView[] => {
  const change = changeOf(before.reading, after.reading);
  if (!change) return [];
  const { number, kind } = after;
  const readAt = isoText(after.readAt);
  const previousReadAt = isoText(before.readAt);
  return [{ name, kind, number, readAt, previousReadAt, ...change }];
};

/** Compares each shown reading with the one shown before it, unless another order came between them. */
const changesOf = async (
  ledger: Ledger,
  item: PriceItem,
  since: number,
): Promise<readonly PriceChangeView[]> => {
  const changes: PriceChangeView[] = [];
  /** Shown price since that instant, to be compared with the one shown before it. */
  let after: StoredReading | undefined;
  for await (const stored of newestFirst(ledger, item)) {
    const isSince = stored.readAt >= since;
    if (after?.fingerprint !== stored.fingerprint) after = undefined;
    if (stored.reading.status === "show") {
      if (after) changes.push(...changeViewsOf(item.name, stored, after));
      after = isSince ? stored : undefined;
    }
    if (!after && !isSince) break;
  }
  return changes;
};

/**
 * Every change of a shown price since an instant, newest first.
 * @param since epoch ms
 * @param name only this item; undefined: all
 */
export const priceChanges = async (
  ledger: Ledger,
  account: string,
  since: number,
  name?: string,
): Promise<readonly PriceChangeView[]> => {
  const items = await itemsOf(ledger, account, name);
  const changes = await pLimit(MAX_READS_AT_ONCE).map(items, (item) =>
    changesOf(ledger, item, since),
  );
  return changes.flat().toSorted((a, b) => Date.parse(b.readAt) - Date.parse(a.readAt));
};
