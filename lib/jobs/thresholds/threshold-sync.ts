import * as z from "zod";
import { publishNow } from "../../events/event.ts";
import { outboxKind, outboxSchema } from "../../ledger/outbox.ts";
import type { Stored } from "../../ledger/record.ts";
import type { JobDeps } from "../../platform/ports/job.ts";
import {
  type Applied,
  appliedSchema,
  isInDoubt,
  type Moment,
  withDoubts,
  withIntents,
  withOutcomes,
} from "./applied-thresholds.ts";
import type { AppliedChange } from "./apply.ts";
import { driftOf, driftsSchema, driftsWithin } from "./drift-history.ts";
import { type SyncFacts, syncResult, thresholdsDrifted, thresholdsSynced } from "./sync-events.ts";
import type { Plan } from "./threshold.ts";

const count = z.int();

export const lastSyncSchema = z.object({
  /** Time of its event, epoch ms. */
  at: z.int(),
  outcome: z.enum(["complete", "partial"]),
  counts: z.object({
    created: count,
    updated: count,
    deleted: count,
    unchanged: count,
    failed: count,
    left: count,
  }),
});

const thresholdSyncSchema = z.object({
  account: z.string(),
  /** Digest of the config of the last complete sync; absent while changes are left. */
  syncedDigest: z.string().optional(),
  /** Sequencer of the last handled object-created event; S3 orders the events of one key by it. */
  sequencer: z.string().optional(),
  /** Number of the last recorded run. */
  run: z.int(),
  /** Applied thresholds, where they cannot be listed. */
  applied: appliedSchema.optional(),
  /** Last sync that made changes or read a new config; absent in a record of an old version. */
  lastSync: lastSyncSchema.optional(),
  /** The last drifts; absent before the first one. */
  drifts: driftsSchema.optional(),
  outbox: outboxSchema,
});

export type ThresholdSync = z.output<typeof thresholdSyncSchema>;

/** The last known state of the thresholds of one client. It never expires. */
export const thresholdSyncs = outboxKind({
  kind: "thresholds",
  schema: thresholdSyncSchema,
});

/**
 * Key of the record of one client.
 * @param clientId undefined: the API key's own client
 */
export const thresholdSyncKey = (account: string, clientId: number | bigint | undefined): string =>
  clientId === undefined ? account : `${account}/${clientId}`;

/** Thrown when a sync did not finish. A retry continues where it stopped. */
export class UnfinishedSyncError extends Error {
  override readonly name = "UnfinishedSyncError";
}

/** A sync with its plan. */
export interface Sync {
  readonly deps: JobDeps;
  readonly facts: SyncFacts;
  /** Key of the record in the ledger. */
  readonly key: string;
  /** The record as it was read. */
  readonly stored: Stored<ThresholdSync> | undefined;
  readonly plan: Plan;
  /** Applied thresholds that are still remembered; empty where thresholds can be listed. */
  readonly remembered: Applied;
  /** A request that got no clear answer takes effect within this time, or never. */
  readonly ambiguityWindowMs: number;
  /** Instant after which no request leaves, epoch ms. */
  readonly endsAt: number;
}

const recordOf = ({ stored, facts }: Sync): ThresholdSync =>
  stored?.value ?? { account: facts.account, run: 0, outbox: [] };

/** Maximum size of the record as JSON, within DynamoDB's 400 kB for an item. */
const MAX_RECORD_BYTES = 395_000;

/** Shortens the history of drifts where the rest of the record needs the room. */
const fitting = ({ drifts, ...rest }: ThresholdSync): ThresholdSync => {
  if (!drifts) return rest;
  const used = Buffer.byteLength(JSON.stringify(rest));
  return { ...rest, drifts: driftsWithin(drifts, MAX_RECORD_BYTES - used) };
};

const OVERTAKEN = "another sync has changed the record of these thresholds; run the sync again";

/** Writes the record. @throws UnfinishedSyncError when it has changed since it was read */
const replace = async ({ deps, key, stored }: Sync, value: ThresholdSync): Promise<void> => {
  const written = await thresholdSyncs.write(deps.ledger, key, stored, fitting(value));
  if (!written) throw new UnfinishedSyncError(OVERTAKEN);
};

const requireUnchanged = async ({ deps, key, stored }: Sync): Promise<void> => {
  const now = await thresholdSyncs.read(deps.ledger, key);
  if (now?.version !== stored?.version) throw new UnfinishedSyncError(OVERTAKEN);
};

const seen = ({ cause }: SyncFacts) =>
  cause.sequencer === undefined ? {} : { sequencer: cause.sequencer };

/** Ends a sync without changes. Writes the record only if the last complete sync had another config. */
export const endUnchanged = async (sync: Sync): Promise<void> => {
  const { deps, facts, plan } = sync;
  const { digest } = facts.config;
  const event = (...identity: readonly string[]) =>
    thresholdsSynced(facts, [], plan.unchangedCount, identity);
  const record = recordOf(sync);
  if (record.syncedDigest === digest) {
    await requireUnchanged(sync);
    return publishNow(deps, event(digest, facts.source.version, facts.cause.eventId));
  }
  const run = record.run + 1;
  const outbox = [...record.outbox, event(String(run))];
  const lastSync = { at: facts.at, ...syncResult([], plan.unchangedCount) };
  await replace(sync, { ...record, ...seen(facts), run, syncedDigest: digest, lastSync, outbox });
  return thresholdSyncs.publishOrLeave(deps, sync.key);
};

const intendedBy = ({ remembered, plan, facts, endsAt, ambiguityWindowMs }: Sync): Applied =>
  withIntents(remembered, plan.changes, { now: facts.at, until: endsAt + ambiguityWindowMs });

/**
 * Records that changes are about to be made. Records and publishes drift first if the last complete sync had a config
 * of the same digest: then no config has asked for the difference.
 * @returns the number of the run
 * @throws UnfinishedSyncError when the record has changed since it was read
 */
export const beginChanges = async (sync: Sync): Promise<number> => {
  const { facts, plan } = sync;
  const { syncedDigest, applied: _replaced, ...record } = recordOf(sync);
  const run = record.run + 1;
  const isDrift = syncedDigest === facts.config.digest;
  await replace(sync, {
    ...record,
    run,
    ...(facts.actualFrom === "ledger" && { applied: intendedBy(sync) }),
    ...(isDrift && {
      drifts: [...(record.drifts ?? []), driftOf(facts.at, plan)],
      outbox: [...record.outbox, thresholdsDrifted(facts, plan, run)],
    }),
  });
  if (isDrift) await thresholdSyncs.publishOrLeave(sync.deps, sync.key);
  return run;
};

/**
 * Record after the end of an overtaken sync, where thresholds cannot be listed. Changes that may have
 * replaced newer ones are made again. The new run number overtakes the sync that runs now.
 */
const doubted = (
  current: ThresholdSync,
  results: readonly AppliedChange[],
  moment: Moment,
): ThresholdSync => {
  const isSent = results.some(({ outcome, isOpen }) => outcome === "done" || isOpen);
  if (!current.applied || !isSent) return current;
  const { syncedDigest: _, ...record } = current;
  const applied = withDoubts(current.applied, results, moment);
  return { ...record, run: current.run + 1, applied };
};

const MAY_NOT_LAST = "made, but an earlier request that got no answer may still replace it";

/** Reports a change that may not last as `left`, so that the next sync makes it again. */
const lastingIn = (applied: Applied, results: readonly AppliedChange[]): readonly AppliedChange[] =>
  results.map((each) =>
    each.outcome === "done" && isInDoubt(applied, each)
      ? { change: each.change, isOpen: each.isOpen, outcome: "left", problem: MAY_NOT_LAST }
      : each,
  );

/**
 * Records the outcomes and publishes them.
 * @param run number of the run, as `beginChanges` returned it
 * @throws UnfinishedSyncError when changes are left, or another sync has taken over
 */
export const endChanges = async (
  sync: Sync,
  run: number,
  results: readonly AppliedChange[],
): Promise<void> => {
  const { deps, key, facts, plan } = sync;
  const { ambiguityWindowMs } = sync;
  const moment = { startedAt: facts.at, now: deps.clock.now(), ambiguityWindowMs };
  const applied =
    facts.actualFrom === "ledger"
      ? withOutcomes(intendedBy(sync), results, sync.remembered, moment)
      : undefined;
  const lasting = applied ? lastingIn(applied, results) : results;
  const isComplete = lasting.every(({ outcome }) => outcome === "done");
  const endedFacts = { ...facts, at: moment.now };
  const event = thresholdsSynced(endedFacts, lasting, plan.unchangedCount, [String(run)]);
  const { value } = await thresholdSyncs.update(deps.ledger, key, (current) => {
    if (current.run !== run) return doubted(current, results, moment);
    return fitting({
      ...current,
      ...seen(facts),
      ...(applied && { applied }),
      ...(isComplete && { syncedDigest: facts.config.digest }),
      lastSync: { at: moment.now, ...syncResult(lasting, plan.unchangedCount) },
      outbox: [...current.outbox, event],
    });
  });
  // This sync outlasted its lease, and another one has begun.
  if (value.run !== run) throw new UnfinishedSyncError("another sync has taken over");
  await thresholdSyncs.publishOrLeave(deps, key);
  if (lasting.some(({ outcome }) => outcome === "left")) {
    throw new UnfinishedSyncError("some changes are left; the next sync makes them");
  }
};
