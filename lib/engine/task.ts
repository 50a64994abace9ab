import * as z from "zod";
import { createdResourcesSchema } from "../contract/tasks.ts";
import { recordKind } from "../ledger/record.ts";
import { LEDGER_RETENTION_MS } from "../ledger/retention.ts";

const taskSchema = z.object({
  account: z.string(),
  id: z.string(),
  /** Key of the command that the task belongs to. */
  command: z.string(),
  operation: z.string(),
  /** Who follows a task that none of their commands has started: they may not be allowed to see it. */
  followedBy: z.string().optional(),
  /** The provider gave one task to several commands: the first one's item has the task's own key. */
  sharedAs: z.enum(["first", "other"]).optional(),
  recordedAt: z.int(),
  /** The command's deadline: from then on no command may be waiting for the task. */
  deadline: z.int(),
  /**
   * First check; later checks follow from the task's age and write nothing, unless so much is due that
   * a query does not show all of it.
   */
  lookAt: z.int(),
  state: z.discriminatedUnion("status", [
    z.object({
      status: z.literal("open"),
      /** First check that did not find it, since it was found last; epoch ms. */
      missingSince: z.int().optional(),
      /** Newest check that did not find it. */
      missingAt: z.int().optional(),
    }),
    /** Ended at the provider; `told` when its event is published and the command has it. */
    z.object({
      status: z.enum(["finished", "failed", "unknown"]),
      endedAt: z.int(),
      message: z.string().optional(),
      createdResources: createdResourcesSchema.optional(),
      told: z.boolean(),
    }),
    /** The command ended first; no command waits for the task any more. */
    z.object({ status: z.literal("abandoned"), endedAt: z.int() }),
  ]),
});

export type Task = z.output<typeof taskSchema>;
export type TaskEnd = Pick<EndedTaskState, "status" | "message" | "createdResources">;
export type EndedTaskState = Extract<Task["state"], { told: boolean }>;

const dueAt = ({ state, lookAt }: Task): number | undefined => {
  switch (state.status) {
    case "open":
      return lookAt;
    case "abandoned":
      return undefined;
    default:
      return state.told ? undefined : state.endedAt;
  }
};

export const tasks = recordKind({
  kind: "task",
  schema: taskSchema,
  dueAt,
  expiresAt: ({ state }) => ("endedAt" in state ? state.endedAt + LEDGER_RETENTION_MS : undefined),
});

type TaskPlace = Pick<Task, "account" | "id"> &
  Partial<Pick<Task, "followedBy" | "sharedAs" | "command">>;

/** Whether the item is one beside that of the command that the task belongs to first. */
export const isBeside = ({ followedBy, sharedAs }: TaskPlace): boolean =>
  followedBy !== undefined || sharedAs === "other";

/**
 * Task ids are the provider's, so two accounts may know the same one. A command that follows a task it
 * has not started, or was given a task of another command, has an item beside that one's.
 */
export const taskKey = (task: TaskPlace): string =>
  isBeside(task) ? `${task.account}/${task.id}/${task.command}` : `${task.account}/${task.id}`;

/** Notes that the provider gave the task to another command too. */
export const markShared = (task: Task): Task =>
  task.sharedAs === undefined ? { ...task, sharedAs: "first" } : task;

/** Postpones the next check of an open task. */
export const postponeCheck = (task: Task, lookAt: number): Task =>
  task.state.status === "open" && lookAt > task.lookAt ? { ...task, lookAt } : task;

/** Notes the end of an open task; a second end changes nothing. */
export const endTask = (task: Task, end: TaskEnd, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { ...end, endedAt: now, told: false } } : task;

export const markReported = (task: Task): Task =>
  "told" in task.state && !task.state.told
    ? { ...task, state: { ...task.state, told: true } }
    : task;

export const abandonTask = (task: Task, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { status: "abandoned", endedAt: now } } : task;

/** The provider may show a new task late; one that it has not known for so long is given up. */
export const UNKNOWN_FOR_MS = 5 * 60 * 1000;

/** The longest time between two checks that did not find the task, when those between saw nothing. */
const MAX_MISSING_GAP_MS = 2 * 60 * 1000;

/** Since when the provider has not known an open task that a check has not found now. */
export const missingSince = ({ state }: Task, now: number): number => {
  if (state.status !== "open" || state.missingSince === undefined) return now;
  const lastAt = state.missingAt ?? state.missingSince;
  return now - lastAt > MAX_MISSING_GAP_MS ? now : state.missingSince;
};

/** Notes that a check has not found the task. */
export const noteMissing = (task: Task, now: number): Task =>
  task.state.status === "open"
    ? {
        ...task,
        state: { status: "open", missingSince: missingSince(task, now), missingAt: now },
      }
    : task;

/** Notes that a check has found the task again. */
export const noteFound = (task: Task): Task =>
  task.state.status === "open" && task.state.missingSince !== undefined
    ? { ...task, state: { status: "open" } }
    : task;
