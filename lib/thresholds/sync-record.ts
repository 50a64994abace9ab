import { publish } from "../events/publish.ts";
import type { OutboxEvent } from "../ledger/outbox.ts";
import type { Stored } from "../ledger/record.ts";
import { type ThresholdSync, thresholdSyncs } from "../ledger/threshold-sync.ts";
import type { JobDeps } from "../ports/job.ts";
import { withIntents, withOutcomes } from "./applied-thresholds.ts";
import type { AppliedChange } from "./apply.ts";
import type { Plan } from "./plan.ts";
import { type SyncFacts, thresholdsDrifted, thresholdsSynced } from "./sync-events.ts";
import { UnfinishedSyncError } from "./sync-request.ts";

/** A sync that knows what is to be done. */
export interface Sync {
  readonly deps: JobDeps;
  readonly facts: SyncFacts;
  /** Of the record in the ledger, and the record as it was read. */
  readonly key: string;
  readonly stored: Stored<ThresholdSync> | undefined;
  readonly plan: Plan;
  /** Where thresholds cannot be listed: what was applied, as far as it is still remembered. */
  readonly remembered: NonNullable<ThresholdSync["applied"]>;
}

/** For events of what no record holds: when they are not taken, the whole sync comes again. */
export const publishNow = async (deps: JobDeps, event: OutboxEvent): Promise<void> => {
  const published = await publish(deps, [event]);
  if (published.size === 0) throw new Error(`${event.detailType} could not be published`);
};

const recordOf = ({ stored, facts }: Sync): ThresholdSync =>
  stored?.value ?? { account: facts.account, run: 0, outbox: [] };

const OVERTAKEN = "what is known of the thresholds has changed in the meantime";

/** Replaces the record as it was read; whatever changed it in between ends this sync. */
const replace = async ({ deps, key, stored }: Sync, value: ThresholdSync): Promise<void> => {
  const written = await thresholdSyncs.write(deps.ledger, key, stored, value);
  if (!written) throw new UnfinishedSyncError(OVERTAKEN);
};

const requireUnchanged = async ({ deps, key, stored }: Sync): Promise<void> => {
  const now = await thresholdSyncs.read(deps.ledger, key);
  if (now?.version !== stored?.version) throw new UnfinishedSyncError(OVERTAKEN);
};

const seen = ({ cause }: SyncFacts) =>
  cause.sequencer === undefined ? {} : { sequencer: cause.sequencer };

/** Ends a sync that has nothing to change; it is recorded only if the record says something else. */
export const endUnchanged = async (sync: Sync): Promise<void> => {
  const { deps, facts, plan } = sync;
  const { digest } = facts.config;
  const told = (...identity: readonly string[]) =>
    thresholdsSynced(facts, [], plan.unchangedCount, identity);
  const record = recordOf(sync);
  if (record.syncedDigest === digest) {
    await requireUnchanged(sync);
    return publishNow(deps, told(digest, facts.source.version, facts.cause.eventId));
  }
  const run = record.run + 1;
  const outbox = [...record.outbox, told(String(run))];
  await replace(sync, { ...record, ...seen(facts), run, syncedDigest: digest, outbox });
  return thresholdSyncs.publishOrLeave(deps, sync.key);
};

/**
 * Notes that changes are about to be made, and tells of drift first: of what the last sync left as it
 * was wanted, and is wanted still, so that nobody asked for the difference.
 * @returns the number of the run
 * @throws UnfinishedSyncError when the record is not any more as it was read
 */
export const beginChanges = async (sync: Sync): Promise<number> => {
  const { facts, plan, remembered } = sync;
  const { syncedDigest, applied: _replaced, ...record } = recordOf(sync);
  const run = record.run + 1;
  const isDrift = facts.cause.kind === "schedule" && syncedDigest === facts.config.digest;
  await replace(sync, {
    ...record,
    run,
    ...(facts.actualFrom === "ledger" && { applied: withIntents(remembered, plan.changes) }),
    outbox: isDrift ? [...record.outbox, thresholdsDrifted(facts, plan, run)] : record.outbox,
  });
  if (isDrift) await thresholdSyncs.publishOrLeave(sync.deps, sync.key);
  return run;
};

/**
 * Records what was done, and tells of it.
 * @throws UnfinishedSyncError when something is left to do
 */
export const endChanges = async (
  sync: Sync,
  run: number,
  results: readonly AppliedChange[],
): Promise<void> => {
  const { deps, key, facts, plan } = sync;
  const isComplete = results.every(({ outcome }) => outcome === "done");
  const endedFacts = { ...facts, at: deps.clock.now() };
  const event = thresholdsSynced(endedFacts, results, plan.unchangedCount, [String(run)]);
  const { value } = await thresholdSyncs.update(deps.ledger, key, (current) => {
    if (current.run !== run) return current;
    const { applied, ...record } = current;
    return {
      ...record,
      ...seen(facts),
      ...(applied && { applied: withOutcomes(applied, results) }),
      ...(isComplete && { syncedDigest: facts.config.digest }),
      outbox: [...record.outbox, event],
    };
  });
  // It lasted longer than it may, and another one has begun.
  if (value.run !== run) throw new UnfinishedSyncError("another sync has taken over");
  await thresholdSyncs.publishOrLeave(deps, key);
  if (results.some(({ outcome }) => outcome === "left")) {
    throw new UnfinishedSyncError("not every change was made; the next sync goes on");
  }
};
