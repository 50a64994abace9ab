import * as z from "zod";
import { createdResourcesSchema } from "../contract/created-resources.ts";
import { counter, instant, text, word } from "./fields.ts";

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

const createdResources = createdResourcesSchema()
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

/** Data of the events of commands and their tasks, by detail-type. */
export const COMMAND_EVENT_DATA = {
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
} as const;
