import * as z from "zod";
import { counter, instant, text, word } from "./fields.ts";

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

/** Data of the events of the scheduled jobs and of accounts, by detail-type. */
export const JOB_EVENT_DATA = {
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
