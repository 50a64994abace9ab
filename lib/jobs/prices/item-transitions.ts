import { changeOf, isSameReading } from "./change.ts";
import type { PriceItem, PriceKind, PriceReading, StoredReading } from "./price.ts";
import type { PriceChange } from "./views.ts";

/*
 * What a run does to the record of one item. Every function is pure; what it answers still lacks the
 * event that tells of a change.
 */

/** What is asked under a name, and in which run. */
export interface AskedItem {
  readonly account: string;
  readonly name: string;
  readonly kind: PriceKind;
  readonly fingerprint: string;
  readonly bucket: string;
}

export interface ChangedPrice {
  readonly before: StoredReading;
  readonly after: StoredReading;
  readonly change: PriceChange;
}

export interface ItemStep {
  readonly item: PriceItem;
  readonly changed?: ChangedPrice | undefined;
}

/** The newest reading that people were shown, of the order that is asked now. */
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
  { reading, at }: { readonly reading: PriceReading; readonly at: number },
): StoredReading => {
  const isSeenAgain = latest?.fingerprint === fingerprint && isSameReading(latest.reading, reading);
  return isSeenAgain
    ? { ...latest, lastSeenAt: Math.max(latest.lastSeenAt, at) }
    : {
        number: (latest?.number ?? 0) + 1,
        kind,
        fingerprint,
        reading,
        readAt: at,
        lastSeenAt: at,
      };
};

/**
 * Notes a reading. One that says what the latest one says is not kept, only that it was seen; one
 * that is shown is compared with the last one that was.
 */
export const noteReading = (
  item: PriceItem | undefined,
  asked: AskedItem,
  read: { readonly reading: PriceReading; readonly at: number },
): ItemStep => {
  const { bucket, ...identity } = asked;
  const latest = nextLatest(item?.latest, asked, read);
  const shown = lastShownOf(item, asked.fingerprint);
  const noted = { ...identity, latest, outbox: item?.outbox ?? [] };
  if (read.reading.status !== "show") {
    const lastRun = { bucket, outcome: "not-compared" } as const;
    return { item: { ...noted, ...(shown && { lastShown: shown }), lastRun } };
  }
  if (!shown) return { item: { ...noted, lastRun: { bucket, outcome: "first" } } };
  const change = changeOf(shown.reading, read.reading);
  return change === undefined
    ? { item: { ...noted, lastRun: { bucket, outcome: "unchanged" } } }
    : {
        item: { ...noted, lastRun: { bucket, outcome: "changed" } },
        changed: { before: shown, after: latest, change },
      };
};

/** Notes that there was no price to be had. What is remembered stays as it is. */
export const noteFailure = (
  item: PriceItem | undefined,
  asked: AskedItem,
  problem: string,
): ItemStep => {
  const { bucket, ...identity } = asked;
  return {
    item: {
      outbox: [],
      ...item,
      ...identity,
      lastRun: { bucket, outcome: "failed", problem },
    },
  };
};
