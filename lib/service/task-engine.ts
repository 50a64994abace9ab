import { type Draft, instantsAhead, type Records } from "./records.ts";
import type { MutationContext } from "./routing.ts";
import type { TaskRecord, Work } from "./state/tasks.ts";

/** The share of its duration for which a task stays NEW. */
const QUEUED_SHARE = 0.2;

interface TaskCall extends MutationContext {
  readonly params: { readonly project_id: number; readonly region_id: number };
}

interface NewTask {
  readonly taskType: string;
  /** The parameters in the task's record: never variables or secret names. */
  readonly data: Record<string, unknown>;
  readonly work: Work;
}

/** Ends a task in state ERROR with this text. Its work has changed nothing but the lock that it held. */
export class TaskFailure extends Error {}

/** What the work of a task gets when the task ends. */
export interface WorkContext {
  readonly records: Draft;
  readonly task: TaskRecord;
  /** The instant at which the task ends, ISO 8601. */
  readonly endedAt: string;
  readonly newId: () => string;
}

/**
 * Does the work of a task; returns the ids of created resources by kind.
 * @throws TaskFailure
 */
export type DoWork = (work: Work, context: WorkContext) => Record<string, string[]> | null;

const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

/** Creates a task in state NEW and returns its id. */
export const startTask = (call: TaskCall, { taskType, data, work }: NewTask): string => {
  const { params, caller, at, newId, taskDurationMs } = call;
  const id = newId();
  call.records.put("tasks", {
    id,
    task_type: taskType,
    state: "NEW",
    created_on: toTimestamp(at),
    updated_on: null,
    finished_on: null,
    error: null,
    created_resources: null,
    user_id: caller.user_id,
    client_id: caller.client_id,
    user_client_id: caller.client_id,
    project_id: params.project_id,
    region_id: params.region_id,
    data,
    detailed_state: null,
    request_id: null,
    job_id: null,
    lifecycle_policy_id: null,
    schedule_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    plan: { startsAtMs: at + taskDurationMs * QUEUED_SHARE, endsAtMs: at + taskDurationMs, work },
  });
  return id;
};

interface Step {
  readonly taskId: string;
  readonly dueAtMs: number;
}

/** The steps due by the instant, in order; at the same instant in the order of creation, which ids follow. */
const dueSteps = (records: Records, at: number): readonly Step[] =>
  records.tasks
    .unfinished()
    .flatMap((task) => instantsAhead(task).map((dueAtMs) => ({ taskId: task.id, dueAtMs })))
    .filter(({ dueAtMs }) => dueAtMs <= at)
    .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.taskId < b.taskId ? -1 : 1));

const outcomeOf = (doWork: () => ReturnType<DoWork>) => {
  try {
    return { state: "FINISHED", created_resources: doWork() } as const;
  } catch (error) {
    if (!(error instanceof TaskFailure)) throw error;
    return { state: "ERROR", error: error.message } as const;
  }
};

const take = (step: Step, records: Draft, newId: () => string, doWork: DoWork): void => {
  const task = records.get("tasks", step.taskId);
  if (!task?.plan) return;
  const { work } = task.plan;
  const now = toTimestamp(step.dueAtMs);
  if (task.state === "NEW") {
    records.put("tasks", { ...task, state: "RUNNING", updated_on: now });
    return;
  }
  const outcome = outcomeOf(() => doWork(work, { records, task, endedAt: now, newId }));
  records.put("tasks", { ...task, updated_on: now, finished_on: now, plan: null, ...outcome });
};

/**
 * Advances every task to the given instant, step by step in the order in which they were due, each
 * committed by itself. Time passes only here: there are no timers, and a virtual clock is enough.
 */
export const advanceTasks = async (
  records: Records,
  at: number,
  newId: () => string,
  doWork: DoWork,
): Promise<void> => {
  if (records.tasks.nextDueAt() > at) return;
  for (const step of dueSteps(records, at)) {
    await records.change((draft) => take(step, draft, newId, doWork));
  }
};
