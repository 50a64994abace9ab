import * as z from "zod";
import { recordKind } from "./record.ts";
import { LEDGER_RETENTION_MS } from "./retention.ts";

const taskSchema = z.object({
  account: z.string(),
  id: z.string(),
  /** Key of the command that the task belongs to. */
  command: z.string(),
  operation: z.string(),
  /** Who follows a task that none of their commands has started: they may not be allowed to see it. */
  followedBy: z.string().optional(),
  recordedAt: z.int(),
  /** The command's deadline: from then on nobody may be waiting for the task. */
  deadline: z.int(),
  /** First look; later looks follow from the task's age and write nothing. */
  lookAt: z.int(),
  state: z.discriminatedUnion("status", [
    z.object({ status: z.literal("open"), missingSince: z.int().optional() }),
    /** Ended at the provider; `told` when event and command know. */
    z.object({
      status: z.enum(["finished", "failed", "unknown"]),
      endedAt: z.int(),
      message: z.string().optional(),
      createdResources: z.record(z.string(), z.json()).optional(),
      told: z.boolean(),
    }),
    /** The command ended first; nobody waits for the task any more. */
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

/**
 * Task ids are the provider's, so two accounts may know the same one. Whoever follows a task that
 * somebody else has started has an item beside that one's.
 */
export const taskKey = (
  task: Pick<Task, "account" | "id"> & Partial<Pick<Task, "followedBy" | "command">>,
): string =>
  task.followedBy === undefined
    ? `${task.account}/${task.id}`
    : `${task.account}/${task.id}/${task.command}`;

/** Notes the end of an open task; a second end changes nothing. */
export const endTask = (task: Task, end: TaskEnd, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { ...end, endedAt: now, told: false } } : task;

export const markTold = (task: Task): Task =>
  "told" in task.state && !task.state.told
    ? { ...task, state: { ...task.state, told: true } }
    : task;

export const abandonTask = (task: Task, now: number): Task =>
  task.state.status === "open" ? { ...task, state: { status: "abandoned", endedAt: now } } : task;

/** Notes since when the provider has not known the task; undefined when it knows it again. */
export const noteMissing = (task: Task, missingSince: number | undefined): Task =>
  task.state.status === "open" && task.state.missingSince !== missingSince
    ? { ...task, state: { status: "open", ...(missingSince !== undefined && { missingSince }) } }
    : task;
