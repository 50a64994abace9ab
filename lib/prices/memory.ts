import pLimit from "p-limit";
import {
  type PriceItem,
  priceItemKey,
  priceItems,
  priceNames,
  priceReadingKey,
  priceReadings,
  type StoredReading,
} from "../ledger/price.ts";
import type { Ledger } from "../ports/ledger.ts";
import { changeOf, totalOf } from "./change.ts";
import type { PriceChangeView, PriceView, ReadingView } from "./views.ts";

/*
 * What is remembered of prices, for people and scripts.
 */

const MAX_READS_AT_ONCE = 8;

const isoText = (at: number): string => new Date(at).toISOString();

const viewOf = ({ reading, ...stored }: StoredReading): ReadingView => ({
  number: stored.number,
  kind: stored.kind,
  readAt: isoText(stored.readAt),
  lastSeenAt: isoText(stored.lastSeenAt),
  status: reading.status,
  total: totalOf(reading),
  amounts: reading.amounts,
});

const latestOf = ({ latest }: PriceItem): PriceView["latest"] => {
  if (!latest) return null;
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

/** The items of all names that were ever watched, by name. */
const itemsOf = async (ledger: Ledger, account: string): Promise<readonly PriceItem[]> => {
  const names = (await priceNames.read(ledger, account))?.value.names ?? [];
  const limit = pLimit(MAX_READS_AT_ONCE);
  const read = async (name: string): Promise<readonly PriceItem[]> => {
    const stored = await priceItems.read(ledger, priceItemKey(account, name));
    // A name is written before its item.
    return stored ? [stored.value] : [];
  };
  return (await Promise.all(names.toSorted().map((name) => limit(read, name)))).flat();
};

/** Every reading under the item's name, newest first. */
const readingsOf = async (ledger: Ledger, item: PriceItem): Promise<readonly StoredReading[]> => {
  const { account, name, latest } = item;
  if (!latest) return [];
  const limit = pLimit(MAX_READS_AT_ONCE);
  const read = async (number: number): Promise<readonly StoredReading[]> => {
    const stored = await priceReadings.read(ledger, priceReadingKey(account, name, number));
    return stored ? [stored.value] : [];
  };
  const earlier = Array.from({ length: latest.number - 1 }, (_, back) => latest.number - 1 - back);
  const kept = await Promise.all(earlier.map((number) => limit(read, number)));
  return [latest, ...kept.flat()];
};

/** What is watched for the account, or was, each with its latest reading, by name. */
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

/** Each shown reading with the one that was shown before it, unless another order came between them. */
const shownPairs = (readings: readonly StoredReading[]) => {
  const pairs: { readonly before: StoredReading; readonly after: StoredReading }[] = [];
  let shown: StoredReading | undefined;
  let fingerprint: string | undefined;
  for (const after of readings.toReversed()) {
    const before = after.fingerprint === fingerprint ? shown : undefined;
    const isShown = after.reading.status === "show";
    if (before && isShown) pairs.push({ before, after });
    shown = isShown ? after : before;
    fingerprint = after.fingerprint;
  }
  return pairs;
};

const changesOf = async (
  ledger: Ledger,
  item: PriceItem,
  since: number,
): Promise<readonly PriceChangeView[]> => {
  if (!item.latest || item.latest.readAt < since) return [];
  return shownPairs(await readingsOf(ledger, item)).flatMap(({ before, after }) => {
    const change = after.readAt < since ? undefined : changeOf(before.reading, after.reading);
    if (!change) return [];
    const { number, kind } = after;
    const readAt = isoText(after.readAt);
    const previousReadAt = isoText(before.readAt);
    return [{ name: item.name, kind, number, readAt, previousReadAt, ...change }];
  });
};

/**
 * Every change of a shown price since an instant, newest first.
 * @param since epoch ms
 */
export const priceChanges = async (
  ledger: Ledger,
  account: string,
  since: number,
): Promise<readonly PriceChangeView[]> => {
  const changes: PriceChangeView[] = [];
  for (const item of await itemsOf(ledger, account)) {
    changes.push(...(await changesOf(ledger, item, since)));
  }
  return changes.toSorted((a, b) => Date.parse(b.readAt) - Date.parse(a.readAt));
};
