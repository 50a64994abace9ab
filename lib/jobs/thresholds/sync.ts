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

/** Problems in the log; the event has a hundred. */
const MAX_LOGGED = 10;
/**
 * Half of it is longer than one request with its wait for a permit takes: a request leaves with at
 * least that much left. The whole is not longer than Lambda waits before the second retry of a run
 * that was killed.
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

/** S3's sequencers of one key: hexadecimal, the shorter one padded with zeros at its end. */
const isAtMost = (one: string, other: string): boolean => {
  const length = Math.max(one.length, other.length);
  return one.padEnd(length, "0").toUpperCase() <= other.padEnd(length, "0").toUpperCase();
};

/** Whether the event reports a version that is synced already, or an older one. */
const isOldNews = ({ sequencer }: SyncCause, sync: ThresholdSync | undefined): boolean =>
  sequencer !== undefined &&
  sync?.sequencer !== undefined &&
  sync.syncedDigest !== undefined &&
  isAtMost(sequencer, sync.sequencer);

/** Names the lease of the sync that changes an account's thresholds: one at a time. */
export const thresholdsLease = (account: string): string => `sync-thresholds/${account}`;

const AT_WORK = "another sync of the same thresholds is at work";

/** While another sync is at work, the listed thresholds may change at once. */
const requireNoOtherSync = async (deps: JobDeps, account: string): Promise<void> => {
  if (await isLeaseHeld(deps, thresholdsLease(account))) throw new UnfinishedSyncError(AT_WORK);
};

/** From here on no other sync begins, so a config that was written since must not be overtaken. */
const requireNewest = async ({ source }: SyncRequest, { facts }: Sync): Promise<void> => {
  if ((await source.read())?.version !== facts.source.version) {
    throw new UnfinishedSyncError("the config was written anew in the meantime");
  }
};

/**
 * Sends only while the lease is held. A pause that the provider asks for can outlast the lease, so
 * that a newer config is synced in between: the rest of this sync would undo it.
 */
const whileLeased = (client: Client, lease: HeldLease): Client => ({
  async call(operation, request, signal) {
    // Without the ledger's answer the lease may be another sync's by now.
    const isHeld = await lease.renew().catch(() => false);
    if (!isHeld) throw notSent(operation, "the lease of this sync is lost");
    return client.call(operation, request, signal);
  },
});

/** @throws UnfinishedSyncError when another sync is at work, or something is left to do */
const makeChanges = async (sync: Sync, request: SyncRequest, budget: JobBudget): Promise<void> => {
  const { deps, plan, facts } = sync;
  const lease = await takeLease(deps, {
    name: thresholdsLease(facts.account),
    by: deps.random.uuid(),
    durationMs: LEASE_MS,
  });
  if (!lease) throw new UnfinishedSyncError(AT_WORK);
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
  if (isOldNews(cause, stored?.value)) {
    deps.log.info("the event reports a config that is synced already", { account: account.name });
    return;
  }
  const client = createRetryingClient(account.client, { ...deps, ...budget });
  // The list shows the key's own client only, no other client's thresholds.
  const isListed = account.canList && config.clientId === undefined;
  const remembered = isListed ? [] : rememberedFor(config, stored?.value.applied);
  if (!remembered) {
    const rule = "more than can be remembered where thresholds cannot be listed";
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
 * Makes the provider's notification events of one account equal to its config. The cause is a hint:
 * the newest config and the actual state are read. A missing or invalid config changes nothing.
 * @throws UnfinishedSyncError when something is left to do; ProviderError when the actual state
 * cannot be read. The same once more continues.
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
    const problems = [{ path: "", rule: "there is no such config" }];
    return reject(deps, request, { reason: "missing", version: undefined, problems });
  }
  const { text, version } = object;
  const read = readThresholdConfig(text);
  if (read.kind === "invalid") {
    return reject(deps, request, { reason: "invalid", version, problems: read.problems });
  }
  return syncWith(deps, request, { config: read.value, version }, budget);
};
