import pLimit from "p-limit";
import { isoText } from "../../events/event.ts";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { changeOf, totalOf } from "./change.ts";
import {
  type PriceItem,
  priceItemKey,
  priceItems,
  priceNames,
  priceReadingKey,
  priceReadings,
  type StoredReading,
} from "./price.ts";
import type { PriceChangeView, PriceView, ReadingView } from "./views.ts";

/*
 * What is remembered of prices, for people and scripts.
 */

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

/** What was asked before under the name is history. */
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

/** As `readingsOf`, one by one for whoever may stop on the way. */
async function* newestFirst(
  ledger: Ledger,
  { account, name, latest }: PriceItem,
): AsyncGenerator<StoredReading> {
  if (!latest) return;
  yield latest;
  for (let number = latest.number - 1; number > 0; number--) {
    const stored = await priceReadings.read(ledger, priceReadingKey(account, name, number));
    if (stored) yield stored.value;
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
  /** Shown since then, and still to be compared with what was shown before. */
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
 */
export const priceChanges = async (
  ledger: Ledger,
  account: string,
  since: number,
): Promise<readonly PriceChangeView[]> => {
  const limit = pLimit(MAX_READS_AT_ONCE);
  const items = await itemsOf(ledger, account);
  const changes = await Promise.all(
    items.map((item) => limit(() => changesOf(ledger, item, since))),
  );
  return changes.flat().toSorted((a, b) => Date.parse(b.readAt) - Date.parse(a.readAt));
};
