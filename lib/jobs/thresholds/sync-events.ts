import type { ConfigProblem } from "../../config/config-file.ts";
import { clipped, listed, listedConfigProblems } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../../ledger/outbox.ts";
import type { AppliedChange } from "./apply.ts";
import type { ThresholdConfig } from "./config.ts";
import type { Change, Plan } from "./threshold.ts";
import { limitField, type Target, targetOfChange } from "./threshold.ts";

/** Cause of a sync. */
export interface SyncCause {
  /** `schedule`: the hourly check; `object-created`: the config may have changed. */
  readonly kind: "object-created" | "schedule";
  readonly eventId: string;
  /** S3's sequencer, which orders the events of one key. */
  readonly sequencer?: string | undefined;
}

/** Reason why a config changes nothing. */
export interface Rejection {
  readonly reason: "missing" | "invalid";
  readonly version: string | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** Common facts of all events of one sync. */
export interface SyncFacts {
  readonly account: string;
  readonly source: { readonly name: string; readonly version: string };
  readonly config: ThresholdConfig;
  readonly cause: SyncCause;
  /** Source of the actual thresholds: the provider's list, or the ledger's record. */
  readonly actualFrom: "list" | "ledger";
  /** Time of the event, epoch ms. */
  readonly at: number;
}

const limitOf = (target: Target, limit: string | undefined) =>
  limit === undefined ? {} : limitField(target, limit);

/** A change in events and in `plan --json`: `before` and `after` hold the limit under its field. */
export const changeView = (change: Change) => {
  const target = targetOfChange(change);
  return {
    action: change.action,
    ...target,
    ...(change.action !== "create" && { before: limitOf(target, change.from.limit) }),
    ...(change.action !== "delete" && { after: limitOf(target, change.threshold.limit) }),
  };
};

const factOf = ({ account, cause, at }: Pick<SyncFacts, "account" | "cause" | "at">) => ({
  subject: `thresholds/${account}`,
  time: at,
  correlationId: cause.eventId,
  causationId: cause.eventId,
  account,
});

const common = ({ source, config, cause, actualFrom, ...about }: SyncFacts) => ({
  fact: factOf({ ...about, cause }),
  data: {
    cause: cause.kind,
    source: { ...source },
    ...(config.clientId !== undefined && { clientId: String(config.clientId) }),
    prune: config.prune,
    actualFrom,
  },
});

const countOf = (changes: readonly Change[], action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length;

/** Counts of the differences between the config and the actual thresholds. */
export const driftCounts = ({ changes }: Plan) => ({
  missing: countOf(changes, "create"),
  different: countOf(changes, "update"),
  unwanted: countOf(changes, "delete"),
});

/**
 * Event of a difference from a config that was already synced.
 * @param run number of the run that found the differences
 */
export const thresholdsDrifted = (facts: SyncFacts, plan: Plan, run: number): OutboxEvent => {
  const { fact, data } = common(facts);
  return outboxEvent({
    ...fact,
    detailType: "ThresholdsDrifted",
    identity: [facts.account, String(facts.config.clientId ?? ""), String(run)],
    data: {
      ...data,
      counts: driftCounts(plan),
      differences: listed(plan.changes.map(changeView)),
    },
  });
};

/** Outcome and counts of a sync. */
export const syncResult = (applied: readonly AppliedChange[], unchangedCount: number) => {
  const done = applied.flatMap((each) => (each.outcome === "done" ? [each.action] : []));
  const doneCount = (action: Change["action"]) => done.filter((each) => each === action).length;
  const countWith = (outcome: AppliedChange["outcome"]) =>
    applied.filter((each) => each.outcome === outcome).length;
  return {
    outcome: done.length === applied.length ? ("complete" as const) : ("partial" as const),
    counts: {
      created: doneCount("create"),
      updated: doneCount("update"),
      deleted: doneCount("delete"),
      unchanged: unchangedCount,
      failed: countWith("failed"),
      left: countWith("left"),
    },
  };
};

/** Order in the event, which lists the first 100 changes. */
const BY_URGENCY = ["failed", "left", "done"] as const;

/**
 * Event of a sync that has ended.
 * @param identity distinguishes this sync from every other one of the account
 */
export const thresholdsSynced = (
  facts: SyncFacts,
  applied: readonly AppliedChange[],
  unchangedCount: number,
  identity: readonly string[],
): OutboxEvent => {
  const { fact, data } = common(facts);
  const withOutcome = (outcome: AppliedChange["outcome"]) =>
    applied.filter((each) => each.outcome === outcome);
  const changes = BY_URGENCY.flatMap(withOutcome).map((each) => ({
    ...changeView(each.change),
    ...(each.outcome === "done" && { action: each.action }),
    outcome: each.outcome,
    ...("problem" in each && { problem: clipped(each.problem) }),
  }));
  return outboxEvent({
    ...fact,
    detailType: "ThresholdsSynced",
    identity: [facts.account, String(facts.config.clientId ?? ""), ...identity],
    data: {
      ...data,
      ...syncResult(applied, unchangedCount),
      changes: listed(changes),
    },
  });
};

/** Event of a config that changes nothing. */
export const thresholdsRejected = (
  about: Pick<SyncFacts, "account" | "cause" | "at"> & { readonly source: string },
  { reason, version, problems }: Rejection,
): OutboxEvent => {
  const { account, source, cause } = about;
  return outboxEvent({
    ...factOf(about),
    detailType: "ThresholdsRejected",
    identity: [account, cause.eventId, version ?? ""],
    data: {
      cause: cause.kind,
      source: { name: source, ...(version !== undefined && { version }) },
      reason,
      problemCount: problems.length,
      problems: listedConfigProblems(problems),
    },
  });
};
