import * as z from "zod";
import { createdResourcesSchema } from "../contract/tasks.ts";

/** Schemas, descriptions and meanings of outgoing events; docs/reference/events.md is made of them. */

const text = (description: string) => z.string().describe(description);
const instant = (description: string) => z.iso.datetime().describe(description);
const counter = (description: string) => z.int().nonnegative().describe(description);

/** One of a few values. `meanings` explains them where their names do not. */
const word = <const Value extends string>(
  values: readonly Value[],
  description: string,
  meanings?: Readonly<Record<Value, string>>,
) => z.enum(values).meta({ description, ...(meanings && { meanings }) });

const problems = z
  .array(
    z.looseObject({
      path: text("Dotted path of the field, such as `body.scale.min`; empty for the whole request"),
      rule: text("Rule that the field breaks, or the cause; at most 500 characters"),
    }),
  )
  .describe("The first 100 problems");

const commandFacts = {
  operation: text("Id of the operation, such as `update-container`"),
  params: z
    .record(z.string(), z.json())
    .describe("Path parameters of the request, as the sender gave them"),
  lane: text(
    "Lane of the command: account, kind of resource and its identity, joined by `/`, each encoded as part of a URL",
  ),
};

const conditions = {
  after: z
    .array(z.string())
    .optional()
    .describe("Ids of the sender's commands that have to succeed first; absent if there are none"),
  dryRun: z
    .boolean()
    .optional()
    .describe("`true` for a dry run: the request is never sent; absent otherwise"),
};

const endFacts = {
  ...commandFacts,
  ...conditions,
  attempts: counter("Number of requests that Skyhook sent to the provider for this command"),
  lostReplies: counter(
    'Number of requests with a lost reply. If it is above 0, an earlier request may have caused the effect; if the provider then answered "done already", another client may have caused it',
  ),
  taskIds: z
    .array(z.string())
    .describe(
      "Ids of the provider's background tasks that the command started; empty if it started none",
    ),
  durationMs: counter("Milliseconds from the acceptance of the command to its end"),
};

const createdResources = createdResourcesSchema
  .optional()
  .describe(
    "Ids of the created resources by kind, such as `routers`: a list of strings or integers, or null; absent when the provider names none",
  );

const taskFacts = {
  operation: text(
    "Id of the operation that started the task; `follow-task` for a task of another client",
  ),
  lane: text("Lane of the command that waits for the task"),
  taskId: text("Id of the task at the provider"),
  durationMs: counter("Milliseconds from the record of the task in the ledger to its end"),
};

const limit = z.looseObject({
  bytes: text(
    "Limit of `reaching_used_space` and `reaching_used_traffic`, in bytes: decimal text from 0 to 18446744073709551615",
  ).optional(),
  count: text(
    "Limit of `reaching_files_quantity` and `reaching_used_requests`: decimal text from 0 to 18446744073709551615",
  ).optional(),
});

const thresholdChange = z.looseObject({
  action: word(["create", "update", "delete"], "Kind of change at the provider"),
  name: text(
    "Name of the threshold: `reaching_used_space`, `reaching_files_quantity`, `reaching_used_traffic` or `reaching_used_requests`",
  ),
  storage_name: text("Storage of the threshold; absent: all storages").optional(),
  bucket_name: text("Bucket of the threshold; absent: all buckets").optional(),
  before: limit.optional().describe("Limit before an update or a deletion"),
  after: limit.optional().describe("Limit after a creation or an update"),
});

const source = (what: string) =>
  z
    .looseObject({
      name: text(
        "Name of the file: the S3 object `s3://BUCKET/KEY` in the cloud, the path on a laptop",
      ),
      version: text(
        "Version of the file: the S3 version id or ETag in the cloud, a digest on a laptop; absent when there is no file",
      ).optional(),
    })
    .describe(what);

const configProblems = z
  .array(
    z.looseObject({
      path: text("Dotted path of the field, such as `items.3.name`; empty for the whole file"),
      rule: text("Rule that the field breaks; at most 500 characters"),
      line: z
        .int()
        .positive()
        .optional()
        .describe("Line of the file, from 1; absent when the problem has no line"),
    }),
  )
  .describe("The first 100 problems, in the order of the file");
const problemCount = counter("Number of all problems in the file, at most 1,000");

const cause = word(["object-created", "schedule"], "Trigger of the sync", {
  "object-created": "the thresholds file was written",
  schedule: "the hourly check, or a run that an operator started",
});

const syncFacts = {
  cause,
  source: source("The thresholds file that the run compared with the provider"),
  clientId: text(
    "`client_id` of the file, as decimal text; absent: the client of the API key",
  ).optional(),
  prune: z.boolean().describe("`prune` of the file: `true` deletes unlisted thresholds"),
  actualFrom: word(["list", "ledger"], "Source of the actual thresholds", {
    list: "the provider's list",
    ledger:
      "the thresholds that the last sync recorded in the ledger, because the list is unavailable",
  }),
};

const decimalText = (description: string) =>
  z
    .string()
    .nullable()
    .describe(`${description}, as exact decimal text; null without such a price`);

const priceTotal = (description: string) =>
  z
    .looseObject({
      currency: z
        .string()
        .nullable()
        .describe("Currency code such as `EUR`; null when the provider names none"),
      per_hour: decimalText("Total per hour"),
      per_month: decimalText("Total per month (720 hours, or 30 days)"),
    })
    .describe(description);

/** Data of every event that this system publishes, by its detail-type. */
export const EVENT_DATA = {
  CommandAccepted: z
    .looseObject({
      ...commandFacts,
      ...conditions,
      deadline: instant("Deadline of the command: the sender's, or the account's default"),
    })
    .describe("The command is in the ledger and reaches exactly one end from now on."),
  CommandRejected: z
    .looseObject({
      operation: text(
        "Operation as requested, which may not exist; empty when the request names none; at most 100 characters",
      ),
      reason: word(
        [
          "id-reused",
          "invalid",
          "lane-full",
          "not-allowed",
          "too-late",
          "too-old",
          "unknown-operation",
        ],
        "Reason of the rejection",
        {
          "id-reused": "the id belongs to a command with another payload",
          invalid: "the request breaks the contract; `problems` lists each field and its rule",
          "lane-full": "500 commands already wait for the resource",
          "not-allowed":
            "the sender has no right to the account, operation or project; the text is the same for an unknown account",
          "too-late": "the deadline has passed",
          "too-old":
            "`metadata.time` is more than 30 days ago, so that a replay cannot run a command again",
          "unknown-operation": "there is no such operation",
        },
      ),
      problems,
      requestedCommandId: text(
        "Id that the request asked for, when it belongs to another command. The event then has no `metadata.commandId`, because it does not end that command",
      ).optional(),
    })
    .describe(
      "The request does not become a command. Nothing changed, and the provider received nothing. A request without any id is rejected without an event.",
    ),
  CommandSucceeded: z
    .looseObject({
      ...endFacts,
      outcome: word(["done", "no-op", "dry-run"], "Kind of success", {
        done: "the effect is there; after a lost reply, another client may have caused it",
        "no-op": "there was nothing to do: the provider started no task",
        "dry-run": "the command was a dry run and passed every check",
      }),
      createdResources,
      result: z
        .json()
        .optional()
        .describe(
          "Answer of an operation that completes at once, up to 64,000 bytes of JSON; absent when it is larger. Integers beyond 2^53-1 are decimal text",
        ),
      wouldSend: z
        .looseObject({
          method: text("HTTP method, such as `PATCH`"),
          path: text("Path with query, without the provider's address"),
          body: z
            .json()
            .optional()
            .describe("Body without secrets, up to 64,000 bytes of JSON; absent when it is larger"),
        })
        .optional()
        .describe("Request that a dry run would send; absent otherwise"),
    })
    .describe(
      "The command took effect, or there was nothing to do. All tasks that it started have finished.",
    ),
  CommandFailed: z
    .looseObject({
      ...endFacts,
      reason: word(
        ["deadline", "refused", "task-failed", "task-unknown", "unknown-outcome"],
        "Reason of the failure",
        {
          deadline: "the deadline passed first; a task of the command may still be running",
          refused: "the provider refused the request, or the request could never be sent",
          "task-failed": "the provider's task ended with an error",
          "task-unknown": "the provider did not know the task for 5 minutes",
          "unknown-outcome":
            "a request was sent, its reply was lost, and its effect is unknown; an operator has to check",
        },
      ),
      problems,
    })
    .describe("The command ended without success and is not tried again."),
  CommandCancelled: z
    .looseObject({
      ...endFacts,
      reason: word(["dependency", "guard", "requested"], "Reason of the cancellation", {
        dependency: "a command in `after` did not succeed",
        guard: "a guard did not hold",
        requested: "an operator cancelled it",
      }),
      problems,
      tag: z
        .looseObject({
          key: text("Key of the tag"),
          value: text("Value of the tag; at most 500 characters"),
          read_only: z.boolean().describe("`true` if the provider protects the tag from changes"),
        })
        .nullable()
        .optional()
        .describe(
          "With reason `guard`: the tag that the guard read; null when the resource has no such tag",
        ),
    })
    .describe("The command ended without effect. Nothing more is sent for it."),
  CommandResolved: z
    .looseObject({
      ...commandFacts,
      applied: z
        .boolean()
        .describe("`true` if the operator found an effect of the command at the provider"),
      note: text("Note of the operator, in one line; absent without one").optional(),
    })
    .describe(
      "An operator found out how a command with an unknown outcome ended. Published at most once for a command; its `CommandFailed` does not change.",
    ),
  TaskFinished: z
    .looseObject({ ...taskFacts, createdResources })
    .describe(
      "A background task of a command finished. The command may wait for other tasks; `CommandSucceeded` reports its end.",
    ),
  TaskFailed: z
    .looseObject({
      ...taskFacts,
      reason: word(["task-failed", "task-unknown"], "Reason why the task counts as failed", {
        "task-failed": "the task ended with an error",
        "task-unknown": "the provider did not know the task for 5 minutes",
      }),
      problems: problems.describe(
        "The provider's error text without secrets; hidden where the secrets of the request that started the task are unknown",
      ),
    })
    .describe("A background task of a command failed. `CommandFailed` reports the command's end."),
  ThresholdsSynced: z
    .looseObject({
      ...syncFacts,
      outcome: word(["complete", "partial"], "Result of the sync", {
        complete: "every change is done",
        partial: "some changes failed or are left; the next run continues",
      }),
      counts: z
        .looseObject({
          created: counter("Thresholds created"),
          updated: counter("Thresholds with a new limit"),
          deleted: counter("Thresholds deleted"),
          unchanged: counter("Thresholds that matched the file already"),
          failed: counter("Changes that the provider refused"),
          left: counter("Changes not attempted or with unknown outcome; the next run retries"),
        })
        .describe("Numbers of all thresholds and changes"),
      changes: z
        .array(
          thresholdChange.extend({
            outcome: word(["done", "failed", "left"], "Outcome of the change", {
              done: "the provider confirmed it",
              failed: "the provider refused it",
              left: "not attempted, or outcome unknown; the next run retries",
            }),
            problem: text(
              "Reason why the change is not done; at most 500 characters; absent when it is done",
            ).optional(),
          }),
        )
        .describe("The first 100 changes: failed ones first, then those left, then those done"),
    })
    .describe(
      "A sync compared the thresholds file with the provider and made the necessary changes. Every sync publishes this event, also an hourly check without differences.",
    ),
  ThresholdsDrifted: z
    .looseObject({
      ...syncFacts,
      counts: z
        .looseObject({
          missing: counter("Thresholds of the file that the provider does not have"),
          different: counter("Thresholds with another limit than in the file"),
          unwanted: counter("Thresholds outside the file, with `prune: true`"),
        })
        .describe("Numbers of all differences"),
      differences: z
        .array(thresholdChange)
        .describe("The first 100 differences, each as the change that undoes it"),
    })
    .describe(
      "The provider's thresholds differ from a file that an earlier sync applied. Published before the sync undoes the differences.",
    ),
  ThresholdsRejected: z
    .looseObject({
      cause,
      source: source("The thresholds file"),
      reason: word(["missing", "invalid"], "Reason of the rejection", {
        missing: "there is no such file",
        invalid: "the file breaks rules; `problems` lists them",
      }),
      problemCount,
      problems: configProblems,
    })
    .describe("The thresholds file is missing or invalid. No threshold changes."),
  WatchlistRejected: z
    .looseObject({
      bucket: instant("Start of the period of the run, by default its hour"),
      source: source("The watchlist"),
      problemCount,
      problems: configProblems,
    })
    .describe("The watchlist is invalid. The run reads no price."),
  PricesCaptured: z
    .looseObject({
      bucket: instant("Start of the period of the run, by default its hour"),
      items: counter("Items of the watchlist"),
      first: counter("Items with a first price, or with a changed order under the same name"),
      changed: counter("Items with a changed price; each has a `PriceChanged` event"),
      unchanged: counter("Items with the same price as before"),
      notCompared: counter(
        "Items without a comparable price: the provider hides the price or could not determine it",
      ),
      failed: counter("Items that could not be read"),
      failures: z
        .array(
          z.looseObject({
            name: text("Name of the item in the watchlist"),
            problem: text("Reason why the price could not be read; at most 500 characters"),
          }),
        )
        .describe("The first 100 failed items"),
    })
    .describe("A run priced the watchlist. Published once for each period, by default each hour."),
  PriceChanged: z
    .looseObject({
      name: text("Name of the item in the watchlist"),
      kind: word(["instance", "k8s_cluster", "gpu_cluster", "ddos"], "Kind of the item"),
      number: z.int().positive().describe("Number of the reading under this name, from 1"),
      before: priceTotal("Previous price that the provider showed"),
      after: priceTotal("Current price"),
      percent: z
        .string()
        .nullable()
        .describe(
          "Change in percent with two decimals, such as `-3.10`: of the monthly total, or of the hourly total if there is no monthly one. Null if the prices cannot be compared: another currency, a previous price of zero, or no total",
        ),
      percentNumber: z
        .number()
        .nullable()
        .optional()
        .describe(
          '`percent` as a number from -5000000000 to 5000000000, for numeric patterns such as `{ "numeric": [">", 5] }`; null when `percent` is null',
        ),
      categories: z
        .array(
          z.looseObject({
            category: text("Category of the price, such as `total.per_month`"),
            before: decimalText("Amount before"),
            after: decimalText("Amount now"),
          }),
        )
        .describe("The first 100 categories with another amount"),
      categoryCount: counter("Number of all categories with another amount"),
      readAt: instant("Time of the reading"),
      previousReadAt: instant("Time of the first reading with the price before"),
    })
    .describe(
      "The price of a watched item differs from the last price that the provider showed for it.",
    ),
  AiTaskEnded: z
    .looseObject({
      taskId: text("Id of the AI task"),
      status: word(["FAILURE", "REVOKED", "SUCCESS"], "Status at the provider"),
      taskName: text(
        "Method that created the task, such as `transcription` or `content-moderation`; absent when the provider names none",
      ).optional(),
      progress: z.int().optional().describe("Progress in percent, as the provider reports it"),
      taskData: z
        .record(z.string(), z.json())
        .optional()
        .describe(
          "`task_data` as the provider shows it, integers beyond 2^53-1 as decimal text; absent when larger than 64,000 characters of JSON or nested deeper than 100 levels",
        ),
    })
    .describe(
      "An AI task ended. Published once for each task; tasks that had ended before the first run have no event.",
    ),
  AiTaskVanished: z
    .looseObject({
      taskId: text("Id of the AI task"),
      taskName: text("Method that created the task; absent when unknown").optional(),
      missingSince: instant("Time of the first check that did not find the task"),
    })
    .describe(
      "Three checks in a row, over at least five minutes, did not find an AI task that had not ended.",
    ),
  AiTaskListRefused: z
    .looseObject({
      since: instant("Time of the first refusal"),
      status: z.int().describe("HTTP status of the provider's answer: 403 or 404"),
      problem: text("The provider's answer; at most 500 characters"),
    })
    .describe(
      "The provider refuses the list of AI tasks to the account in `metadata.account`. Skyhook cannot watch the account's AI tasks. Published once, and again only after the provider has shown the list.",
    ),
  AiTaskListAccepted: z
    .looseObject({
      since: instant("Time at which the provider showed the list again"),
      refusedSince: instant("`since` of the `AiTaskListRefused` that this event ends"),
    })
    .describe("The provider shows the list of AI tasks again after a refusal."),
  AccountKeyRefused: z
    .looseObject({
      since: instant("Time of the first refusal"),
    })
    .describe(
      "The provider refuses the API key of the account in `metadata.account`. Its commands wait, at most until their deadlines. Published once, and again only after the provider has accepted a key.",
    ),
  AccountKeyAccepted: z
    .looseObject({
      since: instant("Time at which the provider accepted a key again"),
      refusedSince: instant("`since` of the `AccountKeyRefused` that this event ends"),
    })
    .describe("The provider accepts the account's API key again. Waiting commands continue."),
  AccountPaused: z
    .looseObject({
      since: instant("Start of the pause"),
      until: instant(
        "End of the pause that the provider asked for by `Retry-After`, at most `max_pause` of the account",
      ),
    })
    .describe(
      "The provider asked for a pause of more than a minute. Requests of the account in `metadata.account` wait. Published once for each pause, even if the provider extends it.",
    ),
} as const;

export type DetailType = keyof typeof EVENT_DATA;

/** Identity and origin of an event: `detail.metadata`. */
export const metadataSchema = z.looseObject({
  id: text("Id of the event, a UUID: the same for every delivery of the same fact"),
  version: z.int().describe("Version of the detail's shape: 1; an incompatible change raises it"),
  time: instant("Time of the fact, in UTC with milliseconds"),
  correlationId: text(
    "Links all events of one request: the request's `metadata.correlationId`, else the command's id; of a scheduled job, its run",
  ),
  causationId: text(
    "Id of the event or message that led to this fact; of a scheduled job, its run",
  ),
  account: text(
    "Account at the provider, by its name in the accounts file; absent from `CommandRejected`",
  ).optional(),
  sender: text(
    "AWS account that sent the request; absent from events that no request caused",
  ).optional(),
  commandId: text(
    "Id of the command; absent from events without a command, and from `CommandRejected` of a reused id",
  ).optional(),
});
