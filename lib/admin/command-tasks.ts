import type { Command, FollowedTask } from "../engine/command.ts";
import { readTask } from "../engine/follow.ts";
import { type Task, UNKNOWN_FOR_MS } from "../engine/task.ts";
import { isoText } from "../events/event.ts";
import type { Ledger } from "../platform/ports/ledger.ts";

/** The last recorded state of a task. Instants are ISO 8601. */
export interface RecordedTask {
  /** `abandoned`: nothing waits for it any more. */
  readonly status: Task["state"]["status"];
  /** When Skyhook began to follow it. */
  readonly since: string;
  /** Of an open task: since when the provider has answered 404. */
  readonly missingSince?: string;
  /** With `missingSince`: when Skyhook gives it up. */
  readonly givenUpAt?: string;
  readonly endedAt?: string;
  /** The provider's error text, without secrets. */
  readonly message?: string;
}

/** A task of a command: the end that the command knows, and the task's own record. */
export type TaskView = FollowedTask & {
  /** Absent before the task is recorded, and after its record has expired. */
  readonly recorded?: RecordedTask;
};

export const tasksOf = ({ state }: Command): readonly FollowedTask[] =>
  "tasks" in state ? state.tasks : [];

/** Reads the command's own records of its tasks, in the order of the provider's reply. */
export const readTasksOf = async (ledger: Ledger, command: Command): Promise<readonly Task[]> => {
  const found = await Promise.all(tasksOf(command).map(({ id }) => readTask(ledger, command, id)));
  return found.filter((task) => task !== undefined);
};

export const recordedTask = ({ state, recordedAt, deadline }: Task): RecordedTask => {
  const since = isoText(recordedAt);
  if (state.status !== "open") {
    const message = "message" in state ? state.message : undefined;
    return {
      ...{ status: state.status, since, endedAt: isoText(state.endedAt) },
      ...(message !== undefined && { message }),
    };
  }
  const { missingSince } = state;
  if (missingSince === undefined) return { status: "open", since };
  const givenUpAt = Math.min(missingSince + UNKNOWN_FOR_MS, deadline);
  return {
    ...{ status: "open", since },
    missingSince: isoText(missingSince),
    givenUpAt: isoText(givenUpAt),
  };
};

export const taskViews = (command: Command, recorded: readonly Task[]): readonly TaskView[] =>
  tasksOf(command).map((task) => {
    const own = recorded.find(({ id }) => id === task.id);
    return { ...task, ...(own && { recorded: recordedTask(own) }) };
  });
