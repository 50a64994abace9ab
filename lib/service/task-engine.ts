import type { Draft, Records } from "./records.ts";
import { instantsAhead } from "./records.ts";
import type { MutationContext } from "./routing.ts";
import type { TaskRecord, Work } from "./state/tasks.ts";

/** How long of its duration a task stays NEW, as if waiting for a worker. */
const QUEUED_SHARE = 0.2;

interface NewTask {
  readonly taskType: string;
  readonly projectId: number;
  readonly regionId: number;
  /** The task's parameters as its record shows them: never variables or secret names. */
  readonly data: Record<string, unknown>;
  readonly work: Work;
}

/** How a task ended. A failed one has changed nothing but the lock that it held. */
export type TaskEnd =
  | { readonly kind: "finished"; readonly createdResources: Record<string, string[]> | null }
  | { readonly kind: "failed"; readonly error: string };

/** What the work of a task may know and do when it ends. */
export interface WorkContext {
  readonly records: Draft;
  readonly task: TaskRecord;
  /** The instant at which the task ends, ISO 8601. */
  readonly endedAt: string;
  readonly newId: () => string;
}

export type DoWork = (work: Work, context: WorkContext) => TaskEnd;

/** ISO 8601 in UTC with `Z` and milliseconds, as the document writes datetimes. */
const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

/** Creates a task in state NEW and returns its id. */
export const startTask = (context: MutationContext, { work, ...task }: NewTask): string => {
  const { caller, at, newId, taskDurationMs } = context;
  const id = newId();
  context.records.put("tasks", {
    id,
    task_type: task.taskType,
    state: "NEW",
    created_on: toTimestamp(at),
    updated_on: null,
    finished_on: null,
    error: null,
    created_resources: null,
    user_id: caller.user_id,
    client_id: caller.client_id,
    user_client_id: caller.client_id,
    project_id: task.projectId,
    region_id: task.regionId,
    data: task.data,
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

/** What happens up to the instant, in order; at the same instant in the order of creation, which ids follow. */
const dueSteps = (records: Records, at: number): readonly Step[] =>
  records.tasks
    .unfinished()
    .flatMap((task) => instantsAhead(task).map((dueAtMs) => ({ taskId: task.id, dueAtMs })))
    .filter(({ dueAtMs }) => dueAtMs <= at)
    .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.taskId < b.taskId ? -1 : 1));

const end = (task: TaskRecord, endedAt: string, outcome: TaskEnd): TaskRecord => ({
  ...task,
  updated_on: endedAt,
  finished_on: endedAt,
  plan: null,
  ...(outcome.kind === "finished"
    ? { state: "FINISHED", created_resources: outcome.createdResources }
    : { state: "ERROR", error: outcome.error }),
});

const take = (step: Step, records: Draft, newId: () => string, doWork: DoWork): void => {
  const task = records.get("tasks", step.taskId);
  if (!task?.plan) return;
  const now = toTimestamp(step.dueAtMs);
  if (task.state === "NEW") {
    records.put("tasks", { ...task, state: "RUNNING", updated_on: now });
    return;
  }
  const outcome = doWork(task.plan.work, { records, task, endedAt: now, newId });
  records.put("tasks", end(task, now, outcome));
};

/**
 * Moves every task to where it is at the given instant, each step committed by itself and in the order
 * in which the steps were due. Time passes only here, so no timers run and a virtual clock is enough.
 */
export const settleTasks = async (
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
