import * as z from "zod";

const problems = z
  .array(z.looseObject({ path: z.string(), rule: z.string() }))
  .describe("what was wrong and where, at most 100");

const commandFacts = {
  operation: z.string(),
  params: z.record(z.string(), z.json()),
  lane: z.string(),
};

const endFacts = {
  ...commandFacts,
  attempts: z.int().nonnegative().describe("requests sent to the provider"),
  lostReplies: z
    .int()
    .nonnegative()
    .describe("sends whose reply never came; above 0, an effect may stem from an earlier send"),
  taskIds: z.array(z.string()),
  durationMs: z.int().nonnegative(),
};

const createdResources = z.record(z.string(), z.array(z.union([z.string(), z.int()])).nullable());

/** Data of every event that this system publishes, by its detail-type. */
export const EVENT_DATA = {
  CommandAccepted: z.looseObject({ ...commandFacts, deadline: z.iso.datetime() }),
  CommandRejected: z.looseObject({
    operation: z.string().describe("as requested, which may be no operation at all"),
    reason: z.enum([
      "id-reused",
      "invalid",
      "lane-full",
      "not-supported",
      "too-late",
      "too-old",
      "unknown-account",
      "unknown-operation",
    ]),
    problems,
    requestedCommandId: z
      .string()
      .optional()
      .describe("of a reused id: the id belongs to another command, which this does not end"),
  }),
  CommandSucceeded: z.looseObject({
    ...endFacts,
    outcome: z.enum(["done", "no-op"]),
    createdResources: createdResources.optional(),
    result: z.json().optional().describe("the provider's answer, when it is small"),
  }),
  CommandFailed: z.looseObject({
    ...endFacts,
    reason: z.enum(["deadline", "refused", "task-failed", "task-unknown", "unknown-outcome"]),
    problems,
  }),
  CommandCancelled: z.looseObject({ ...endFacts, reason: z.string(), problems }),
  TaskFinished: z.looseObject({
    operation: z.string(),
    lane: z.string(),
    taskId: z.string(),
    durationMs: z.int().nonnegative(),
    createdResources: createdResources.optional(),
  }),
  TaskFailed: z.looseObject({
    operation: z.string(),
    lane: z.string(),
    taskId: z.string(),
    durationMs: z.int().nonnegative(),
    reason: z.enum(["task-failed", "task-unknown"]),
    problems,
  }),
} as const;

export type DetailType = keyof typeof EVENT_DATA;
