import * as z from "zod";
import { isoText } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent, outboxKind, outboxSchema } from "../../ledger/outbox.ts";
import type { AiTaskRun, OpenAiTask } from "./ai-watch.ts";
import type { AiTaskEnd } from "./task-list.ts";

const endedSchema = z.object({
  kind: z.literal("ended"),
  /** Status as the provider shows it. */
  status: z.string(),
  /** Time at which a run first saw the end, epoch ms. */
  endedAt: z.int(),
  /** Whether the end has an event; false for a task that ended before its account was watched. */
  isTold: z.boolean(),
});

const vanishedSchema = z.object({
  kind: z.literal("vanished"),
  /** Time of the first check that did not find the task, epoch ms; each absence has its own. */
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
 * Ended and vanished AI tasks. They never expire: the provider may list an ended task for ever, and the end
 * of a forgotten one would be published again.
 */
export const aiTasks = outboxKind({
  kind: "ai-task",
  schema: aiTaskSchema,
  expiresAt: () => undefined,
});

export const aiTaskKey = ({ account, taskId }: Identity): string => `${account}/${taskId}`;

/** Records an end without an event. An existing record stays as it is. */
export const endAiTaskWithoutEvent = (task: AiTask | undefined, end: End): AiTask => {
  const { account, taskId, ...state } = end;
  return task ?? { account, taskId, state: { kind: "ended", ...state, isTold: false }, outbox: [] };
};

/**
 * Records an end together with its event, once. An end that was recorded without an event gets one now:
 * the caller has seen the task running.
 */
export const endAiTask = (task: AiTask | undefined, end: End, event: OutboxEvent): AiTask => {
  if (task?.state.kind === "ended" && task.state.isTold) return task;
  const { account, taskId, ...state } = end;
  const outbox = [...(task?.outbox ?? []), event];
  return { account, taskId, state: { kind: "ended", ...state, isTold: true }, outbox };
};

/** Records that a task has vanished, with one event for each absence. A recorded end stays. */
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

/** Metadata that all events about one task share. */
const about = ({ account, taskId }: Identity) => {
  const causationId = `ai-task/${account}/${taskId}`;
  return { subject: `${account}/${taskId}`, account, correlationId: causationId, causationId };
};

/** Records an end without publishing it. */
export const recordEnd = async (
  { deps, accountName: account }: AiTaskRun,
  { taskId, status }: Pick<AiTaskEnd, "taskId" | "status">,
): Promise<void> => {
  const end = { account, taskId, status, endedAt: deps.clock.now() };
  await aiTasks.change(deps.ledger, aiTaskKey(end), (stored) => endAiTaskWithoutEvent(stored, end));
};

/** Records an end together with its event, and publishes it. One task has one such event. */
export const publishEnd = async (
  { deps, accountName: account }: AiTaskRun,
  data: AiTaskEnd,
): Promise<void> => {
  const { taskId, status } = data;
  const end = { account, taskId, status, endedAt: deps.clock.now() };
  const event = outboxEvent({
    ...about(end),
    detailType: "AiTaskEnded",
    identity: [account, taskId],
    time: end.endedAt,
    data: { ...data },
  });
  const key = aiTaskKey(end);
  await aiTasks.change(deps.ledger, key, (stored) => endAiTask(stored, end, event));
  await aiTasks.publishOrLeave(deps, key);
};

/**
 * Records that the provider no longer knows a followed task, together with its event, and publishes
 * it. Each absence has one such event.
 */
export const publishVanishing = async (
  { deps, accountName: account }: AiTaskRun,
  { taskId, taskName }: OpenAiTask,
  since: number,
): Promise<void> => {
  const vanishing = { account, taskId, missingSince: since, vanishedAt: deps.clock.now() };
  const missingSince = isoText(since);
  const event = outboxEvent({
    ...about(vanishing),
    detailType: "AiTaskVanished",
    identity: [account, taskId, missingSince],
    time: vanishing.vanishedAt,
    data: { taskId, ...(taskName !== undefined && { taskName }), missingSince },
  });
  const key = aiTaskKey(vanishing);
  await aiTasks.change(deps.ledger, key, (stored) => vanishAiTask(stored, vanishing, event));
  await aiTasks.publishOrLeave(deps, key);
};
