import type { TaskRecord } from "./state/state.ts";

/** The instants (epoch milliseconds) at which time moves a task on, the next one first. */
export const instantsAhead = ({ state, plan }: TaskRecord): readonly number[] => {
  if (plan === null) return [];
  return state === "NEW" ? [plan.startsAtMs, plan.endsAtMs] : [plan.endsAtMs];
};

const nextInstant = (task: TaskRecord): number =>
  instantsAhead(task)[0] ?? Number.POSITIVE_INFINITY;

export interface TaskIndex {
  /** The tasks that time will move on, in no particular order. */
  unfinished(): readonly TaskRecord[];
  /** When time has something to do again, epoch milliseconds; infinity when it has not. */
  nextDueAt(): number;
  /** To be told of every task that is written. */
  note(task: TaskRecord): void;
}

/** Keeps the few tasks that have not ended, so that no request looks at all that ever ran. */
export const createTaskIndex = (tasks: Iterable<TaskRecord>): TaskIndex => {
  const unfinished = new Map<string, TaskRecord>();
  /** The earliest of all next instants; undefined when it has to be looked for. */
  let earliest: number | undefined;
  const note = (task: TaskRecord): void => {
    const before = unfinished.get(task.id);
    if (task.plan === null) unfinished.delete(task.id);
    else unfinished.set(task.id, task);
    // Only the task that was the next one can make the earliest instant a later one.
    if (before && nextInstant(before) === earliest) earliest = undefined;
    if (earliest !== undefined) earliest = Math.min(earliest, nextInstant(task));
  };
  for (const task of tasks) note(task);
  return {
    unfinished: () => [...unfinished.values()],
    nextDueAt: () => {
      earliest ??= [...unfinished.values()]
        .map(nextInstant)
        .reduce((first, instant) => Math.min(first, instant), Number.POSITIVE_INFINITY);
      return earliest;
    },
    note,
  };
};
