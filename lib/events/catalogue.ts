import * as z from "zod";
import { createdResourcesSchema } from "../contract/tasks.ts";

const problems = z
  .array(z.looseObject({ path: z.string(), rule: z.string() }))
  .describe("what was wrong and where, at most 100");

const commandFacts = {
  operation: z.string(),
  params: z.record(z.string(), z.json()),
  lane: z.string(),
};

const conditions = {
  after: z
    .array(z.string())
    .optional()
    .describe("commands of the sender that had to succeed first"),
  dryRun: z.boolean().optional().describe("the request itself was not, and will not be, sent"),
};

const endFacts = {
  ...commandFacts,
  ...conditions,
  attempts: z.int().nonnegative().describe("requests sent to the provider"),
  lostReplies: z
    .int()
    .nonnegative()
    .describe(
      "sends whose reply never came; above 0, an effect may stem from an earlier send, or from another client where the provider then refused as done already",
    ),
  taskIds: z.array(z.string()),
  durationMs: z.int().nonnegative(),
};

const limit = z
  .looseObject({ bytes: z.string().optional(), count: z.string().optional() })
  .describe("decimal text: JSON readers round numbers of that size");

const thresholdChange = z.looseObject({
  action: z.enum(["create", "update", "delete"]),
  name: z.string(),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  before: limit.optional().describe("limit before an update or a deletion"),
  after: limit.optional().describe("limit after a creation or an update"),
});

const configSource = z.looseObject({
  name: z.string(),
  version: z.string().optional().describe("absent when there is no such object"),
});

const configProblem = z.looseObject({
  path: z.string(),
  rule: z.string(),
  line: z.int().positive().optional(),
});

const syncFacts = {
  cause: z.enum(["object-created", "schedule"]),
  source: configSource.describe("the config, in this version, has everything that is wanted"),
  clientId: z.string().optional().describe("absent: the API key's own client"),
  prune: z.boolean(),
  actualFrom: z
    .enum(["list", "ledger"])
    .describe("list: read from the provider; ledger: as recorded when it was last applied"),
};

const counter = z.int().nonnegative();

const decimalText = z.string().describe("exact decimal text");

const priceTotal = z.looseObject({
  currency: z.string().nullable(),
  per_hour: decimalText.nullable(),
  per_month: decimalText.nullable(),
});

/** Data of every event that this system publishes, by its detail-type. */
export const EVENT_DATA = {
  CommandAccepted: z.looseObject({ ...commandFacts, ...conditions, deadline: z.iso.datetime() }),
  CommandRejected: z.looseObject({
    operation: z.string().describe("as requested, which may be no operation at all"),
    reason: z.enum([
      "id-reused",
      "invalid",
      "lane-full",
      "not-allowed",
      "too-late",
      "too-old",
      "unknown-operation",
    ]),
    problems,
    requestedCommandId: z
      .string()
      .optional()
      .describe("of a reused id: it belongs to another command, which this event does not end"),
  }),
  CommandSucceeded: z.looseObject({
    ...endFacts,
    outcome: z
      .enum(["done", "no-op", "dry-run"])
      .describe(
        "done: also what was found done after a lost reply, which another client may have done",
      ),
    createdResources: createdResourcesSchema.optional(),
    result: z.json().optional().describe("the provider's answer, when it is small"),
    wouldSend: z
      .looseObject({ method: z.string(), path: z.string(), body: z.json().optional() })
      .optional()
      .describe("of a dry run, secrets left out; the body when it is small"),
  }),
  CommandFailed: z.looseObject({
    ...endFacts,
    reason: z.enum(["deadline", "refused", "task-failed", "task-unknown", "unknown-outcome"]),
    problems,
  }),
  CommandCancelled: z.looseObject({
    ...endFacts,
    reason: z.enum(["dependency", "guard", "requested"]),
    problems,
    tag: z
      .looseObject({ key: z.string(), value: z.string(), read_only: z.boolean() })
      .nullable()
      .optional()
      .describe("of a guard: the tag that it read, null when there is none"),
  }),
  CommandResolved: z.looseObject({
    ...commandFacts,
    applied: z
      .boolean()
      .describe("whether the operator found an effect of the command at the provider"),
    note: z.string().optional().describe("the operator's note, in one line"),
  }),
  TaskFinished: z.looseObject({
    operation: z.string(),
    lane: z.string(),
    taskId: z.string(),
    durationMs: z.int().nonnegative(),
    createdResources: createdResourcesSchema.optional(),
  }),
  TaskFailed: z.looseObject({
    operation: z.string(),
    lane: z.string(),
    taskId: z.string(),
    durationMs: z.int().nonnegative(),
    reason: z.enum(["task-failed", "task-unknown"]),
    problems,
  }),
  ThresholdsSynced: z.looseObject({
    ...syncFacts,
    outcome: z.enum(["complete", "partial"]).describe("partial: the next run continues"),
    counts: z.looseObject({
      created: counter,
      updated: counter,
      deleted: counter,
      unchanged: counter,
      failed: counter.describe("clearly refused"),
      left: counter.describe("not attempted, or outcome unknown; the next run retries"),
    }),
    changes: z
      .array(
        thresholdChange.extend({
          outcome: z.enum(["done", "failed", "left"]),
          problem: z.string().optional().describe("why it was not done"),
        }),
      )
      .describe("the first 100: failed ones first, then those left"),
  }),
  ThresholdsDrifted: z.looseObject({
    ...syncFacts,
    counts: z.looseObject({ missing: counter, different: counter, unwanted: counter }),
    differences: z.array(thresholdChange).describe("the changes that undo them; the first 100"),
  }),
  ThresholdsRejected: z.looseObject({
    cause: z.enum(["object-created", "schedule"]),
    source: configSource,
    reason: z.enum(["missing", "invalid"]),
    problemCount: counter,
    problems: z.array(configProblem).describe("the first 100"),
  }),
  WatchlistRejected: z.looseObject({
    bucket: z.iso.datetime().describe("start of the period of the run that rejected it"),
    source: configSource,
    problemCount: counter,
    problems: z.array(configProblem).describe("the first 100"),
  }),
  PricesCaptured: z.looseObject({
    bucket: z.iso.datetime().describe("start of the time that the run stands for"),
    items: counter,
    first: counter.describe("shown for the first time, or another order under the name"),
    changed: counter.describe("each has a PriceChanged event"),
    unchanged: counter,
    notCompared: counter.describe("the provider shows no price, or could not find it out"),
    failed: counter,
    failures: z
      .array(z.looseObject({ name: z.string(), problem: z.string() }))
      .describe("the first 100"),
  }),
  PriceChanged: z.looseObject({
    name: z.string().describe("as in the watchlist"),
    kind: z.enum(["instance", "k8s_cluster", "gpu_cluster", "ddos"]),
    number: z.int().positive().describe("of the reading, among those of the name"),
    before: priceTotal,
    after: priceTotal,
    percent: z
      .string()
      .nullable()
      .describe(
        "change of the monthly total, or of the hourly one where there is no monthly, such as -3.10; null where they cannot be compared",
      ),
    percentNumber: z
      .number()
      .nullable()
      .optional()
      .describe(
        "percent as a number, for numeric event patterns; at most 5000000000, at least -5000000000; null where percent is",
      ),
    categories: z
      .array(
        z.looseObject({
          category: z.string(),
          before: decimalText.nullable(),
          after: decimalText.nullable(),
        }),
      )
      .describe("what changed; null where there is none; the first 100"),
    categoryCount: counter,
    readAt: z.iso.datetime(),
    previousReadAt: z.iso.datetime().describe("when the price before was first read"),
  }),
  AiTaskEnded: z.looseObject({
    taskId: z.string(),
    status: z.enum(["FAILURE", "REVOKED", "SUCCESS"]),
    taskName: z.string().optional().describe("the method that created the task"),
    progress: z.int().optional(),
    taskData: z
      .record(z.string(), z.json())
      .optional()
      .describe("as the provider shows it; left out when larger than 64,000 characters of JSON"),
  }),
  AiTaskVanished: z.looseObject({
    taskId: z.string(),
    taskName: z.string().optional(),
    missingSince: z.iso.datetime().describe("time of the first check that did not find the task"),
  }),
  AiTaskListRefused: z.looseObject({
    since: z.iso.datetime().describe("of the account in the metadata; no AI task is watched"),
    status: z.int().describe("403 or 404, of the provider's answer"),
    problem: z.string(),
  }),
  AiTaskListAccepted: z.looseObject({
    since: z.iso.datetime(),
    refusedSince: z.iso.datetime().describe("as in the AiTaskListRefused that this ends"),
  }),
  AccountKeyRefused: z.looseObject({
    since: z.iso.datetime().describe("of the account in the metadata; its commands wait"),
  }),
  AccountKeyAccepted: z.looseObject({
    since: z.iso.datetime(),
    refusedSince: z.iso.datetime().describe("as in the AccountKeyRefused that this ends"),
  }),
  AccountPaused: z.looseObject({
    since: z.iso.datetime().describe("of the account in the metadata; its commands wait"),
    until: z.iso
      .datetime()
      .describe("end of the pause that the provider asked for, at most the account's max_pause"),
  }),
} as const;

export type DetailType = keyof typeof EVENT_DATA;

/** What stands beside the data of every event. */
export const metadataSchema = z.looseObject({
  id: z.string(),
  version: z.int(),
  time: z.iso.datetime(),
  correlationId: z.string(),
  causationId: z.string(),
  account: z.string().optional(),
  sender: z.string().optional(),
  commandId: z.string().optional(),
});
