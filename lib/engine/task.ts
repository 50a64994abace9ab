import * as z from "zod";
import { createdResourcesSchema } from "../contract/created-resources.ts";
import { recordKind } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";

const taskSchema = z.object({
  account: z.string(),
  id: z.string(),
  /** Key of the command that the task belongs to. */
  command: z.string(),
  operation: z.string(),
  /** The sender that follows a task of another client; it may have no right to see the task. */
  followedBy: z.string().optional(),
  /**
   * Set when the provider named one task in replies to several commands. The item of the first has the
   * task's own key.
   */
  sharedAs: z.enum(["first", "other"]).optional(),
  recordedAt: z.int(),
  /** The command's deadline; after it the task is abandoned once the command has ended. */
  deadline: z.int(),
  /** First check; later checks follow from the task's age and write nothing. */
  lookAt: z.int(),
  state: z.discriminatedUnion("status", [
    z.object({
      status: z.literal("open"),
      /** First check that did not find it since it was last found, epoch ms. */
      missingSince: z.int().optional(),
      /** Newest check that did not find it, epoch ms. */
      missingAt: z.int().optional(),
    }),
    /** Ended at the provider. `told`: its event is published, and the command has its end. */
    z.object({
      status: z.enum(["finished", "failed", "unknown"]),
      endedAt: z.int(),
      message: z.string().optional(),
      createdResources: createdResourcesSchema().optional(),
      told: z.boolean(),
    }),
    /** The command ended first; no command waits for the task any more. */
    z.object({ status: z.literal("abandoned"), endedAt: z.int() }),
  ]),
});

export type Task = z.output<typeof taskSchema>;
export type TaskEnd = Pick<EndedTaskState, "status" | "message" | "createdResources">;
export type EndedTaskState = Extract<Task["state"], { told: boolean }>;

/** The shortest background work takes seconds; an earlier check would find nothing. */
export const FIRST_CHECK_MS = 2_000;

/** A task keeps its due time until the events of its end are published, so that its entry in the due index never moves. */
const dueAt = (task: Task): number | undefined => (isDone(task) ? undefined : task.lookAt);

export const tasks = recordKind({
  kind: "task",
  schema: taskSchema,
  dueAt,
  expiresAt: ({ state }) => ("endedAt" in state ? state.endedAt + LEDGER_RETENTION_MS : undefined),
});

type TaskPlace = Pick<Task, "account" | "id"> &
  Partial<Pick<Task, "followedBy" | "sharedAs" | "command">>;

/** Whether this item is an additional one, beside the item of the command that got the task first. */
export const isBeside = ({ followedBy, sharedAs }: TaskPlace): boolean =>
  followedBy !== undefined || sharedAs === "other";

/**
 * The key of a task's item. It holds the account, because task ids are the provider's and two accounts
 * may use the same one. A command that follows another client's task, or got the task of another
 * command, has an item beside the first.
 */
export const taskKey = (task: TaskPlace): string =>
  isBeside(task) ? `${task.account}/${task.id}/${task.command}` : `${task.account}/${task.id}`;

/** The parts of the key of a task that one command started; undefined for an item beside another one. */
export const splitTaskKey = (
  key: string,
): { readonly account: string; readonly id: string } | undefined => {
  const [account, id, ...command] = key.split("/");
  return account !== undefined && id !== undefined && command.length === 0
    ? { account, id }
    : undefined;
};

/** Records that the provider named the task in the reply to another command too. */
export const markShared = (task: Task): Task =>
  task.sharedAs === undefined ? { ...task, sharedAs: "first" } : task;

/** Records the end of an open task; a second end changes nothing. */
export const endTask = (task: Task, end: TaskEnd, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { ...end, endedAt: now, told: false } } : task;

/** Whether nothing is left to do for the task: its end is published, or it was abandoned. */
export const isDone = ({ state }: Task): boolean =>
  state.status === "abandoned" || ("told" in state && state.told);

/** Records an end as it is published, unless nothing is left to do. */
export const recordEnd = (task: Task, state: EndedTaskState): Task =>
  isDone(task) ? task : { ...task, state };

export const abandonTask = (task: Task, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { status: "abandoned", endedAt: now } } : task;

/** A task that the provider has not known for this long is given up. A new task may appear late. */
export const UNKNOWN_FOR_MS = 5 * 60 * 1000;

/** The longest gap between two checks that count as one absence; checks between may have failed. */
const MAX_MISSING_GAP_MS = 2 * 60 * 1000;

/**
 * Since when the provider has not known an open task, epoch ms, if a check at `now` does not find it.
 */
export const missingSince = ({ state }: Task, now: number): number => {
  if (state.status !== "open" || state.missingSince === undefined) return now;
  const lastAt = state.missingAt ?? state.missingSince;
  return now - lastAt > MAX_MISSING_GAP_MS ? now : state.missingSince;
};

/** Records that a check has not found the task. */
export const markMissing = (task: Task, now: number): Task =>
  task.state.status === "open"
    ? {
        ...task,
        state: { status: "open", missingSince: missingSince(task, now), missingAt: now },
      }
    : task;

/** Records that a check has found the task again. */
export const markFound = (task: Task): Task =>
  task.state.status === "open" && task.state.missingSince !== undefined
    ? { ...task, state: { status: "open" } }
    : task;
