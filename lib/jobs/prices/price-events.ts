import type { ConfigProblem } from "../../config/config-file.ts";
import { isoText, listed, listedConfigProblems } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../../ledger/outbox.ts";
import type { PriceChange } from "./change.ts";
import type { AskedItem, PriceItem, StoredReading } from "./price.ts";

interface RunId {
  readonly account: string;
  readonly bucket: string;
}

/** Id of a run in its events and its log lines. */
export const runIdOf = ({ account, bucket }: RunId): string => `prices/${account}/${bucket}`;

/** The run is the cause of its events: there was no request. */
const causeOf = (id: RunId) => {
  const run = runIdOf(id);
  return { correlationId: run, causationId: run, account: id.account };
};

/** Largest number that EventBridge can match; larger changes are published as this one. */
const NUMERIC_LIMIT = 5e9;

/** `percent` as a number, for numeric patterns; null where there is none. */
const patternNumber = (percent: string | null): number | null =>
  percent === null ? null : Math.min(NUMERIC_LIMIT, Math.max(-NUMERIC_LIMIT, Number(percent)));

/**
 * Event of an invalid watchlist.
 * @param rejection the watchlist as it was read, with all its problems
 */
export const watchlistRejected = (
  run: RunId & { readonly at: number },
  rejection: {
    readonly source: { readonly name: string; readonly version: string };
    readonly problems: readonly ConfigProblem[];
  },
): OutboxEvent => {
  const { source, problems } = rejection;
  return outboxEvent({
    ...causeOf(run),
    detailType: "WatchlistRejected",
    identity: [run.account, run.bucket, source.version],
    subject: `prices/${run.account}`,
    time: run.at,
    data: {
      bucket: run.bucket,
      source: { ...source },
      problemCount: problems.length,
      problems: listedConfigProblems(problems),
    },
  });
};

interface ChangedPrice {
  readonly before: StoredReading;
  readonly after: StoredReading;
  readonly change: PriceChange;
}

/** Event of a price that differs from the last one shown. */
export const priceChanged = (
  asked: AskedItem,
  { before, after, change }: ChangedPrice,
): OutboxEvent => {
  const { account, name, kind } = asked;
  return outboxEvent({
    ...causeOf(asked),
    detailType: "PriceChanged",
    identity: [account, name, String(after.number)],
    subject: `prices/${account}/${name}`,
    time: after.lastSeenAt,
    data: {
      name,
      kind,
      number: after.number,
      before: change.before,
      after: change.after,
      percent: change.percent,
      percentNumber: patternNumber(change.percent),
      categories: listed(change.categories),
      categoryCount: change.categories.length,
      readAt: isoText(after.readAt),
      previousReadAt: isoText(before.readAt),
    },
  });
};

/**
 * Event of a run that has ended.
 * @param items every item of the run, as the run left it
 */
export const pricesCaptured = (
  run: { readonly account: string; readonly bucket: string; readonly endedAt: number },
  items: readonly PriceItem[],
): OutboxEvent => {
  const countOf = (outcome: PriceItem["lastRun"]["outcome"]): number =>
    items.filter(({ lastRun }) => lastRun.outcome === outcome).length;
  return outboxEvent({
    ...causeOf(run),
    detailType: "PricesCaptured",
    identity: [run.account, run.bucket],
    subject: `prices/${run.account}`,
    time: run.endedAt,
    data: {
      bucket: run.bucket,
      items: items.length,
      first: countOf("first"),
      changed: countOf("changed"),
      unchanged: countOf("unchanged"),
      notCompared: countOf("not-compared"),
      failed: countOf("failed"),
      failures: listed(
        items
          .filter(({ lastRun }) => lastRun.outcome === "failed")
          .map(({ name, lastRun }) => ({ name, problem: lastRun.problem ?? "" })),
      ),
    },
  });
};
