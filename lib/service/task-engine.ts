import type { Draft, Records } from "./records.ts";
import type { MutationContext } from "./routing.ts";
import type { TaskRecord, Work } from "./state/tasks.ts";

/** Share of its duration during which a task is NEW. */
const QUEUED_SHARE = 0.2;

interface TaskCall extends MutationContext {
  readonly params: { readonly project_id: number; readonly region_id: number };
}

interface NewTask {
  readonly taskType: string;
  /** The parameters that the task record shows. Must not contain variables or names of secrets. */
  readonly data: Record<string, unknown>;
  readonly work: Work;
}

/** Ends a task in state ERROR with this text. The work must have released its lock and changed nothing else. */
export class TaskFailure extends Error {}

/** Context of the work that a task does when it ends. */
export interface WorkContext {
  readonly records: Draft;
  readonly task: TaskRecord;
  /** The instant at which the task ends, ISO 8601. */
  readonly endedAt: string;
  readonly newId: () => string;
}

/**
 * Does the work of a task and returns the ids of created resources by kind.
 * @throws TaskFailure to end the task in state ERROR
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

const outcomeOf = (doWork: () => ReturnType<DoWork>) => {
  try {
    return { state: "FINISHED", created_resources: doWork() } as const;
  } catch (error) {
    if (!(error instanceof TaskFailure)) throw error;
    return { state: "ERROR", error: error.message } as const;
  }
};

/**
 * Ended tasks that a step removes: two for each that ends, so that their number falls to the limit if it was above, and
 * a step stays small.
 */
const AGED_AT_ONCE = 2;

const takeStep = (
  task: TaskRecord,
  dueAtMs: number,
  records: Draft,
  { newId, doWork }: Stepping,
): void => {
  const now = toTimestamp(dueAtMs);
  if (task.state === "NEW") {
    records.put("tasks", { ...task, state: "RUNNING", updated_on: now });
    return;
  }
  const { plan } = task;
  if (!plan) return;
  const outcome = outcomeOf(() => doWork(plan.work, { records, task, endedAt: now, newId }));
  records.put("tasks", { ...task, updated_on: now, finished_on: now, plan: null, ...outcome });
};

interface Stepping {
  readonly newId: () => string;
  readonly doWork: DoWork;
  /** Largest number of ended tasks. The end of another one removes those that ended first. */
  readonly keptTasks: number;
}

/**
 * Advances every task to the given instant. Each step is a commit of its own, in the order of due times. Time
 * passes only here: there are no timers, so a virtual clock is enough.
 */
export const advanceTasks = async (
  records: Records,
  at: number,
  stepping: Stepping,
): Promise<void> => {
  for (;;) {
    const task = records.tasks.nextDue();
    const dueAtMs = records.tasks.nextDueAt();
    if (task === undefined || dueAtMs > at) return;
    await records.change((draft) => {
      takeStep(task, dueAtMs, draft, stepping);
      if (task.state === "NEW") return;
      const aged = records.tasks.endedBeyond(stepping.keptTasks - 1, AGED_AT_ONCE);
      for (const old of aged) draft.remove("tasks", old);
    });
  }
};
