import pLimit from "p-limit";
import { configProblemText } from "../../config/config-file.ts";
import { isoText, publishNow } from "../../events/event.ts";
import type { ConfigSource } from "../../platform/ports/config-source.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import type { LogFields } from "../../platform/ports/log.ts";
import type { Metrics } from "../../platform/ports/metrics.ts";
import type { Account } from "../../provider/accounts.ts";
import { createRetryingClient } from "../../provider/retrying-client.ts";
import { captureItem, type ItemCapture } from "./capture-item.ts";
import { type PriceItem, priceNames, priceRunKey, priceRuns } from "./price.ts";
import { pricesCaptured, runIdOf, watchlistRejected } from "./price-events.ts";
import { readWatchlist, type WatchlistItem } from "./watchlist.ts";

const MAX_AT_ONCE = 4;
/** Maximum problems in one log line; the event has up to 100. */
const MAX_LOGGED = 10;
/** Maximum names of one record. Beyond that the oldest former names are dropped first. */
const MAX_NAMES = 4_000;

export interface PriceRun {
  readonly account: Account;
  readonly source: ConfigSource;
  /** Time of the schedule's tick, epoch ms. */
  readonly scheduledAt: number;
  /** Period of the schedule; one run counts for each period. */
  readonly periodMs: number;
}

const bucketOf = ({ scheduledAt, periodMs }: PriceRun): string =>
  isoText(Math.floor(scheduledAt / periodMs) * periodMs);

/** Log fields of a run; its events have the same correlation id. */
export const priceRunFields = (run: PriceRun): LogFields => {
  const account = run.account.name;
  return { account, correlationId: runIdOf({ account, bucket: bucketOf(run) }) };
};

/** Records the watched names. Called before the items are written, so that each can be found by name. */
const rememberNames = async (
  { ledger }: JobDeps,
  account: string,
  watched: readonly string[],
): Promise<void> => {
  await priceNames.change(ledger, account, (known) => {
    const names = new Set(known?.names);
    if (known && watched.every((name) => names.has(name))) return known;
    const current = new Set(watched);
    const former = [...names].filter((name) => !current.has(name));
    return { names: [...former, ...current].slice(-MAX_NAMES) };
  });
};

/**
 * Captures every item; a failed item stops no other. When the ledger fails for one item, the run throws
 * after all others have ended, and a retry continues. Such a failure is transient, because no record is
 * too large for the ledger.
 * @returns the items as this bucket or a later one has recorded them
 * @throws Error when time ran out before an item, or the ledger failed
 */
const captureItems = async (
  capture: ItemCapture,
  items: readonly WatchlistItem[],
): Promise<readonly PriceItem[]> => {
  const { deps, budget, account, bucket } = capture;
  const limit = pLimit(MAX_AT_ONCE);
  const captureInTime = async (item: WatchlistItem): Promise<PriceItem | undefined> => {
    const isOver = budget.signal.aborted || deps.clock.now() >= budget.endsAt;
    return isOver ? undefined : captureItem(capture, item);
  };
  // Every item ends before an error is thrown: none may still run after the caller has returned.
  const ends = await Promise.allSettled(items.map((item) => limit(captureInTime, item)));
  const captured: PriceItem[] = [];
  for (const end of ends) {
    if (end.status === "rejected") throw end.reason;
    if (end.value) captured.push(end.value);
  }
  const left = items.length - captured.length;
  if (left > 0) {
    const run = runIdOf({ account, bucket });
    throw new Error(
      `${run}: time ran out before ${left} of ${items.length} items; a retry continues`,
    );
  }
  return captured;
};

/**
 * Runs one price snapshot: prices every item of the watchlist, stores new readings and publishes changes.
 * The period identifies the run. A repeat publishes and stores nothing, or continues where the run stopped.
 * An invalid watchlist prices nothing and is published as `WatchlistRejected`.
 * @throws Error when time ran out or a port failed: try the same run again
 */
export const capturePrices = async (
  jobDeps: JobDeps & { readonly metrics: Metrics },
  run: PriceRun,
  budget: JobBudget,
): Promise<void> => {
  const account = run.account.name;
  const bucket = bucketOf(run);
  const deps = { ...jobDeps, log: jobDeps.log.with(priceRunFields(run)) };
  const key = priceRunKey(account, bucket);
  if (await priceRuns.read(deps.ledger, key)) return priceRuns.publishOrLeave(deps, key);

  const object = await run.source.read();
  if (!object) {
    deps.log.info("no watchlist, nothing to price", { account, source: run.source.name });
    return;
  }
  const watchlist = readWatchlist(object.text);
  if (watchlist.kind === "invalid") {
    const { problems } = watchlist;
    const source = { name: run.source.name, version: object.version };
    deps.log.warn("watchlist rejected, nothing is priced", {
      source: source.name,
      problems: problems.slice(0, MAX_LOGGED).map(configProblemText),
    });
    const rejected = watchlistRejected(
      { account, bucket, at: deps.clock.now() },
      { source, problems },
    );
    await publishNow(deps, rejected);
    return deps.metrics.count("WatchlistRejected");
  }
  const items = watchlist.value;
  const names = items.map(({ name }) => name);
  await rememberNames(deps, account, names);

  const { clock, random } = deps;
  const client = createRetryingClient(run.account.client, { clock, random, ...budget });
  const captured = await captureItems({ deps, account, bucket, client, budget }, items);
  const ended = { account, bucket, endedAt: deps.clock.now() };
  const outbox = [pricesCaptured(ended, captured)];
  // Another run of the same bucket may have been faster; its record is equally valid.
  await priceRuns.change(deps.ledger, key, (found) => found ?? { ...ended, outbox });
  await priceRuns.publishOrLeave(deps, key);
};
