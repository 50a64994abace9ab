import type { ConfigProblem } from "../../config/config-file.ts";
import { clipped, listed, listedConfigProblems } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../../ledger/outbox.ts";
import type { AppliedChange } from "./apply.ts";
import type { ThresholdConfig } from "./config.ts";
import type { Change, Plan } from "./threshold.ts";
import { limitField, type Target, targetOf } from "./threshold.ts";

/** Cause of a sync. */
export interface SyncCause {
  /** `schedule` is the regular check; `object-created` says that the config may have changed. */
  readonly kind: "object-created" | "schedule";
  readonly eventId: string;
  /** S3's order of the events about one key. */
  readonly sequencer?: string | undefined;
}

/** A config that changes nothing. */
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
  readonly actualFrom: "list" | "ledger";
  readonly at: number;
}

const limitOf = (target: Target, limit: string | undefined) =>
  limit === undefined ? {} : limitField(target, limit);

/** A change as events and `plan --json` show it: `before` and `after` hold the limit under its field. */
export const changeView = (change: Change) => {
  const target = targetOf(change.action === "delete" ? change.from : change.threshold);
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

/** @param run number of the run that found the differences */
export const thresholdsDrifted = (facts: SyncFacts, plan: Plan, run: number): OutboxEvent => {
  const { fact, data } = common(facts);
  const { changes } = plan;
  return outboxEvent({
    ...fact,
    detailType: "ThresholdsDrifted",
    identity: [facts.account, String(facts.config.clientId ?? ""), String(run)],
    data: {
      ...data,
      counts: {
        missing: countOf(changes, "create"),
        different: countOf(changes, "update"),
        unwanted: countOf(changes, "delete"),
      },
      differences: listed(changes.map(changeView)),
    },
  });
};

const FIRST_TO_KNOW = ["failed", "left", "done"] as const;

/** @param identity distinguishes this sync from every other one of the account */
export const thresholdsSynced = (
  facts: SyncFacts,
  applied: readonly AppliedChange[],
  unchangedCount: number,
  identity: readonly string[],
): OutboxEvent => {
  const { fact, data } = common(facts);
  const withOutcome = (outcome: AppliedChange["outcome"]) =>
    applied.filter((each) => each.outcome === outcome);
  const done = applied.flatMap((each) => (each.outcome === "done" ? [each.action] : []));
  const doneCount = (action: Change["action"]) => done.filter((each) => each === action).length;
  const changes = FIRST_TO_KNOW.flatMap(withOutcome).map((each) => ({
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
      outcome: done.length === applied.length ? "complete" : "partial",
      counts: {
        created: doneCount("create"),
        updated: doneCount("update"),
        deleted: doneCount("delete"),
        unchanged: unchangedCount,
        failed: withOutcome("failed").length,
        left: withOutcome("left").length,
      },
      changes: listed(changes),
    },
  });
};

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
