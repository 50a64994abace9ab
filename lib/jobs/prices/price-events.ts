import type { ConfigProblem } from "../../config/config-file.ts";
import { isoText, listed, listedConfigProblems } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../../ledger/outbox.ts";
import type { AskedItem, ChangedPrice } from "./item-transitions.ts";
import type { PriceItem } from "./price.ts";

interface RunPlace {
  readonly account: string;
  readonly bucket: string;
}

/** Names a run in its events and in the log. */
export const runIdOf = ({ account, bucket }: RunPlace): string => `prices/${account}/${bucket}`;

/** What led to an event is the run; nobody sent a request. */
const causeOf = (place: RunPlace) => {
  const run = runIdOf(place);
  return { correlationId: run, causationId: run, account: place.account };
};

/** EventBridge matches numbers up to this only; larger changes count as this much. */
const NUMERIC_LIMIT = 5e9;

/** `percent` as a number, for numeric patterns; null where there is none. */
const patternNumber = (percent: string | null): number | null =>
  percent === null ? null : Math.min(NUMERIC_LIMIT, Math.max(-NUMERIC_LIMIT, Number(percent)));

/** @param rejection the watchlist as it was read, and everything that is wrong with it */
export const watchlistRejected = (
  run: RunPlace & { readonly at: number },
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
      before: { ...change.before },
      after: { ...change.after },
      percent: change.percent,
      percentNumber: patternNumber(change.percent),
      categories: listed(change.categories).map((category) => ({ ...category })),
      categoryCount: change.categories.length,
      readAt: isoText(after.readAt),
      previousReadAt: isoText(before.readAt),
    },
  });
};

/** @param items every item of the run, as the run left it */
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
