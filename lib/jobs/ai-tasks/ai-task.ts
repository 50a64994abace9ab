import * as z from "zod";
import { type OutboxEvent, outboxKind, outboxSchema } from "../../ledger/outbox.ts";

const endedSchema = z.object({
  kind: z.literal("ended"),
  /** As the provider shows it. */
  status: z.string(),
  /** When the end was first seen, epoch ms. */
  endedAt: z.int(),
  /** False of a task that had ended before its account was watched: no event tells of it. */
  isTold: z.boolean(),
});

const vanishedSchema = z.object({
  kind: z.literal("vanished"),
  /** First look that did not find it, epoch ms; tells one vanishing from another. */
  missingSince: z.int(),
  vanishedAt: z.int(),
});

const aiTaskSchema = z.object({
  account: z.string(),
  taskId: z.string(),
  state: z.discriminatedUnion("kind", [endedSchema, vanishedSchema]),
  outbox: outboxSchema,
});

export type AiTask = z.output<typeof aiTaskSchema>;
type Identity = Pick<AiTask, "account" | "taskId">;
type End = Identity & Omit<z.output<typeof endedSchema>, "kind" | "isTold">;
type Vanishing = Identity & Omit<z.output<typeof vanishedSchema>, "kind">;

/**
 * AI tasks that are over for us. They are kept for ever: the provider may list an ended task for
 * ever, and one that was forgotten would be told of again.
 */
export const aiTasks = outboxKind({
  kind: "ai-task",
  schema: aiTaskSchema,
  expiresAt: () => undefined,
});

export const aiTaskKey = ({ account, taskId }: Identity): string => `${account}/${taskId}`;

/** Records an end of which nobody is told. What is recorded already stays as it is. */
export const noteAiTaskEnd = (task: AiTask | undefined, end: End): AiTask => {
  const { account, taskId, ...state } = end;
  return task ?? { account, taskId, state: { kind: "ended", ...state, isTold: false }, outbox: [] };
};

/**
 * Records an end together with its event, once. One that was noted without an event is told of
 * after all: whoever asks for it has seen the task at work.
 */
export const tellAiTaskEnd = (task: AiTask | undefined, end: End, event: OutboxEvent): AiTask => {
  if (task?.state.kind === "ended" && task.state.isTold) return task;
  const { account, taskId, ...state } = end;
  const outbox = [...(task?.outbox ?? []), event];
  return { account, taskId, state: { kind: "ended", ...state, isTold: true }, outbox };
};

/** Records that a task is gone, together with its event. An end is final, and one absence is one. */
export const vanishAiTask = (
  task: AiTask | undefined,
  vanishing: Vanishing,
  event: OutboxEvent,
): AiTask => {
  const { account, taskId, ...state } = vanishing;
  if (task?.state.kind === "ended") return task;
  if (task?.state.missingSince === state.missingSince) return task;
  const outbox = [...(task?.outbox ?? []), event];
  return { account, taskId, state: { kind: "vanished", ...state }, outbox };
};
