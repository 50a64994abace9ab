import { configProblemText } from "../../config/config-file.ts";
import { publishNow } from "../../events/event.ts";
import { type HeldLease, isLeaseHeld, takeLease } from "../../ledger/lease.ts";
import type { ConfigSource } from "../../platform/ports/config-source.ts";
import type { JobBudget, JobDeps } from "../../platform/ports/job.ts";
import type { Metrics } from "../../platform/ports/metrics.ts";
import type { Account } from "../../provider/accounts.ts";
import { type Client, notSent } from "../../provider/client.ts";
import { createRetryingClient } from "../../provider/retrying-client.ts";
import { actualOf, rememberedFor } from "./applied-thresholds.ts";
import { applyChanges } from "./apply.ts";
import { readThresholdConfig, type ThresholdConfig } from "./config.ts";
import { type Rejection, type SyncCause, thresholdsRejected } from "./sync-events.ts";
import { listThresholds, planChanges } from "./threshold.ts";
import {
  beginChanges,
  endChanges,
  endUnchanged,
  type Sync,
  type ThresholdSync,
  thresholdSyncKey,
  thresholdSyncs,
  UnfinishedSyncError,
} from "./threshold-sync.ts";

interface SyncRequest {
  readonly account: Account;
  readonly source: ConfigSource;
  readonly cause: SyncCause;
}

interface SyncDeps extends JobDeps {
  readonly metrics: Metrics;
}

/** Maximum problems in one log line; the event has up to 100. */
const MAX_LOGGED = 10;
/**
 * Duration of the lease. A request leaves with at least half of it left, which is longer than a request
 * takes with its wait for a permit. Lambda waits at least the whole before its second retry, so that
 * retry replaces a run that was killed.
 */
const LEASE_MS = 120_000;

const reject = async (
  deps: SyncDeps,
  request: SyncRequest,
  rejection: Rejection,
): Promise<void> => {
  const { account, source, cause } = request;
  deps.log.info("thresholds config rejected", {
    account: account.name,
    source: source.name,
    problems: rejection.problems.slice(0, MAX_LOGGED).map(configProblemText),
  });
  const about = { account: account.name, source: source.name, cause, at: deps.clock.now() };
  await publishNow(deps, thresholdsRejected(about, rejection));
  deps.metrics.count("ThresholdsRejected");
};

/** Compares S3 sequencers of one key: hexadecimal, the shorter one padded with zeros at its end. */
const isAtMost = (one: string, other: string): boolean => {
  const length = Math.max(one.length, other.length);
  return one.padEnd(length, "0").toUpperCase() <= other.padEnd(length, "0").toUpperCase();
};

/** Whether the event reports a version of the config that was synced already, or an older one. */
const isAlreadySynced = ({ sequencer }: SyncCause, sync: ThresholdSync | undefined): boolean =>
  sequencer !== undefined &&
  sync?.sequencer !== undefined &&
  sync.syncedDigest !== undefined &&
  isAtMost(sequencer, sync.sequencer);

/** Name of the lease that lets one sync at a time change an account's thresholds. */
export const thresholdsLease = (account: string): string => `sync-thresholds/${account}`;

const OTHER_SYNC_RUNS =
  "another sync of the same thresholds is running; run the sync again after it";

/** Refuses to report while another sync runs, because the listed thresholds may change at any moment. */
const requireNoOtherSync = async (deps: JobDeps, account: string): Promise<void> => {
  if (await isLeaseHeld(deps, thresholdsLease(account)))
    throw new UnfinishedSyncError(OTHER_SYNC_RUNS);
};

/** Refuses to apply an old config. This sync has the lease by now, so no sync of the newer one can start. */
const requireNewest = async ({ source }: SyncRequest, { facts }: Sync): Promise<void> => {
  if ((await source.read())?.version !== facts.source.version) {
    throw new UnfinishedSyncError("the config was replaced during this sync; run the sync again");
  }
};

/**
 * Wraps a client so that it sends only while the lease is held. A pause that the provider asks for can
 * outlast the lease. Another sync may then apply a newer config, which the rest of this one would undo.
 */
const whileLeased = (client: Client, lease: HeldLease): Client => ({
  async call(operation, request, signal) {
    // If the ledger does not answer, another sync may hold the lease by now.
    const isHeld = await lease.renew().catch(() => false);
    if (!isHeld) throw notSent(operation, "this sync has lost its lease");
    return client.call(operation, request, signal);
  },
});

/** Sends the changes under the lease. @throws UnfinishedSyncError when another sync runs, or changes are left */
const makeChanges = async (sync: Sync, request: SyncRequest, budget: JobBudget): Promise<void> => {
  const { deps, plan, facts } = sync;
  const lease = await takeLease(deps, {
    name: thresholdsLease(facts.account),
    by: deps.random.uuid(),
    durationMs: LEASE_MS,
  });
  if (!lease) throw new UnfinishedSyncError(OTHER_SYNC_RUNS);
  try {
    await requireNewest(request, sync);
    const run = await beginChanges(sync);
    const leased = whileLeased(request.account.client, lease);
    const pace = { clock: deps.clock, random: deps.random, ...budget };
    const client = createRetryingClient(leased, pace);
    const { clientId } = facts.config;
    const results = await applyChanges(plan.changes, { ...pace, client, clientId });
    await endChanges(sync, run, results);
  } finally {
    await lease.release();
  }
};

const syncWith = async (
  deps: SyncDeps,
  request: SyncRequest,
  { config, version }: { readonly config: ThresholdConfig; readonly version: string },
  budget: JobBudget,
): Promise<void> => {
  const { account, source, cause } = request;
  const key = thresholdSyncKey(account.name, config.clientId);
  const stored = await thresholdSyncs.read(deps.ledger, key);
  if (isAlreadySynced(cause, stored?.value)) {
    deps.log.info("the event reports a version of the config that is already synced", {
      account: account.name,
    });
    return;
  }
  const client = createRetryingClient(account.client, { ...deps, ...budget });
  // The provider lists only the thresholds of the key's own client.
  const isListed = account.canList && config.clientId === undefined;
  const remembered = isListed ? [] : rememberedFor(config, stored?.value.applied);
  if (!remembered) {
    const rule =
      "too many: they cannot be listed at the provider, and the ledger has room for about 1,000; use fewer";
    const problems = [{ path: "thresholds", rule }];
    return reject(deps, request, { reason: "invalid", version, problems });
  }
  const actual = isListed ? await listThresholds(client) : actualOf(remembered);
  const plan = planChanges(config.thresholds, actual, config.prune);
  const facts = {
    account: account.name,
    source: { name: source.name, version },
    config,
    cause,
    actualFrom: isListed ? ("list" as const) : ("ledger" as const),
    at: deps.clock.now(),
  };
  const { endsAt } = budget;
  const { ambiguityWindowMs } = account;
  const sync = { deps, facts, key, stored, plan, remembered, ambiguityWindowMs, endsAt };
  if (plan.changes.length > 0) return makeChanges(sync, request, budget);
  await requireNoOtherSync(deps, account.name);
  return endUnchanged(sync);
};

/**
 * Makes the provider's notification events of one account equal to its config. The cause is only a hint:
 * each sync reads the newest config and the actual state. A missing or invalid config changes nothing.
 * A retry continues after either error.
 * @throws UnfinishedSyncError when changes are left
 * @throws ProviderError when the actual state cannot be read
 */
export const syncThresholds = async (
  jobDeps: SyncDeps,
  request: SyncRequest,
  budget: JobBudget,
): Promise<void> => {
  const { account, cause } = request;
  const log = jobDeps.log.with({ account: account.name, correlationId: cause.eventId });
  const deps = { ...jobDeps, log };
  const object = await request.source.read();
  if (!object) {
    const problems = [{ path: "", rule: "the file does not exist" }];
    return reject(deps, request, { reason: "missing", version: undefined, problems });
  }
  const { text, version } = object;
  const read = readThresholdConfig(text);
  if (read.kind === "invalid") {
    return reject(deps, request, { reason: "invalid", version, problems: read.problems });
  }
  return syncWith(deps, request, { config: read.value, version }, budget);
};
