import * as z from "zod";
import { eventIdOf, isoText } from "../../events/event.ts";
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
  /** Absent: unknown, or recorded by an old version. */
  taskName: z.string().optional(),
  /**
   * Time of the first end or disappearance with an event, epoch ms. The list sorts by it, because an entry of the
   * list never moves. Absent: not listed.
   */
  recordedAt: z.int().optional(),
  state: z.discriminatedUnion("kind", [endedSchema, vanishedSchema]),
  outbox: outboxSchema,
});

export type AiTask = z.output<typeof aiTaskSchema>;
type Identity = Pick<AiTask, "account" | "taskId">;
type Named = Identity & Pick<AiTask, "taskName">;
type End = Named & Omit<z.output<typeof endedSchema>, "kind" | "isTold">;
type Vanishing = Named & Omit<z.output<typeof vanishedSchema>, "kind">;

/** Partition of the list that holds an account's tasks with an event. */
export const aiTaskPartition = (account: string): string => `ai-tasks/${account}`;

/**
 * Ended and vanished AI tasks. They never expire: the provider may list an ended task for ever, and the end
 * of a forgotten one would be published again.
 */
export const aiTasks = outboxKind({
  kind: "ai-task",
  schema: aiTaskSchema,
  // A baseline may record many thousand old ends, which have no event; the list leaves them out.
  listing: ({ account, recordedAt }) =>
    recordedAt === undefined ? undefined : { at: recordedAt, partition: aiTaskPartition(account) },
});

export const aiTaskKey = ({ account, taskId }: Identity): string => `${account}/${taskId}`;

/** Records an end without an event. An existing record stays as it is. */
export const endAiTaskWithoutEvent = (
  task: AiTask | undefined,
  { account, taskId, ...state }: Omit<End, "taskName">,
): AiTask =>
  task ?? { account, taskId, state: { kind: "ended", ...state, isTold: false }, outbox: [] };

/** Fields of a task besides its state. @param at time of its end or disappearance, epoch ms */
const aboutTask = (task: AiTask | undefined, { account, taskId, taskName }: Named, at: number) => ({
  account,
  taskId,
  ...(taskName !== undefined && { taskName }),
  recordedAt: task?.recordedAt ?? at,
});

/**
 * Records an end together with its event, once. An end that was recorded without an event gets one now:
 * the caller has seen the task running.
 */
export const endAiTask = (task: AiTask | undefined, end: End, event: OutboxEvent): AiTask => {
  if (task?.state.kind === "ended" && task.state.isTold) return task;
  const { status, endedAt } = end;
  return {
    ...aboutTask(task, end, endedAt),
    state: { kind: "ended", status, endedAt, isTold: true },
    outbox: [...(task?.outbox ?? []), event],
  };
};

/** Records that a task has vanished, with one event for each absence. A recorded end stays. */
export const vanishAiTask = (
  task: AiTask | undefined,
  vanishing: Vanishing,
  event: OutboxEvent,
): AiTask => {
  const { missingSince, vanishedAt } = vanishing;
  if (task?.state.kind === "ended") return task;
  if (task?.state.missingSince === missingSince) return task;
  return {
    ...aboutTask(task, vanishing, vanishedAt),
    state: { kind: "vanished", missingSince, vanishedAt },
    outbox: [...(task?.outbox ?? []), event],
  };
};

const endIdentity = ({ account, taskId }: Identity) => [account, taskId];
const vanishingIdentity = ({ account, taskId }: Identity, missingSince: number) => [
  account,
  taskId,
  isoText(missingSince),
];

/** The event of a task's state; undefined for an end without one. `waiting`: not yet recorded as published. */
export const eventOfAiTask = (task: AiTask) => {
  const { state, outbox } = task;
  if (state.kind === "ended" && !state.isTold) return undefined;
  const [type, identity, at] =
    state.kind === "ended"
      ? (["AiTaskEnded", endIdentity(task), state.endedAt] as const)
      : ([
          "AiTaskVanished",
          vanishingIdentity(task, state.missingSince),
          state.vanishedAt,
        ] as const);
  const id = eventIdOf(type, identity);
  const isWaiting = outbox.some(({ deduplicationId }) => deduplicationId === id);
  return { type, id, at, state: isWaiting ? ("waiting" as const) : ("published" as const) };
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
  const { taskId, taskName, status } = data;
  const end = { account, taskId, taskName, status, endedAt: deps.clock.now() };
  const event = outboxEvent({
    ...about(end),
    detailType: "AiTaskEnded",
    identity: endIdentity(end),
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
  const vanishedAt = deps.clock.now();
  const vanishing = { account, taskId, taskName, missingSince: since, vanishedAt };
  const event = outboxEvent({
    ...about(vanishing),
    detailType: "AiTaskVanished",
    identity: vanishingIdentity(vanishing, since),
    time: vanishedAt,
    data: {
      taskId,
      ...(taskName !== undefined && { taskName }),
      missingSince: isoText(since),
    },
  });
  const key = aiTaskKey(vanishing);
  await aiTasks.change(deps.ledger, key, (stored) => vanishAiTask(stored, vanishing, event));
  await aiTasks.publishOrLeave(deps, key);
};
