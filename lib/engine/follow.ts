import { followTask } from "../contract/tasks.ts";
import { type Command, commandKey, commands, type FollowedTask, isEnded } from "./command.ts";
import { fail, isSmall, succeed } from "./command-events.ts";
import { recordTaskEnd, tasksRecorded } from "./command-transitions.ts";
import type { CommandDeps } from "./deps.ts";
import { changeCommand, finishCommand, leaveTasks } from "./finish.ts";
import { markShared, type Task, taskKey, tasks } from "./task.ts";

type TaskEnd = NonNullable<FollowedTask["end"]>;

/** The shortest background work takes seconds; an earlier check would find nothing. */
const FIRST_CHECK_MS = 2_000;

/** Writes the item of one of the command's tasks. Repeatable. */
const recordTask = async ({ ledger }: CommandDeps, task: Task): Promise<void> => {
  if (await tasks.write(ledger, taskKey(task), undefined, task)) return;
  const isOurs = (found: Task): boolean => found.command === task.command;
  const { value: first } = await tasks.update(ledger, taskKey(task), (found) =>
    isOurs(found) ? found : markShared(found),
  );
  if (isOurs(first)) return;
  const other: Task = { ...task, sharedAs: "other" };
  await tasks.change(ledger, taskKey(other), (found) => found ?? other);
};

/**
 * Gives every task of a following command its own item, then lets the command rest until its
 * deadline. Repeatable: a crash in between leaves the command due at once.
 */
export const recordTasks = async (deps: CommandDeps, command: Command): Promise<void> => {
  if (command.state.status !== "following" || command.state.tasksRecorded) return;
  const now = deps.clock.now();
  const key = commandKey(command);
  for (const { id } of command.state.tasks) {
    const task: Task = {
      account: command.account,
      id,
      command: key,
      operation: command.operation,
      ...(command.operation === followTask.id && { followedBy: command.sender }),
      deadline: command.deadline,
      recordedAt: now,
      lookAt: now + FIRST_CHECK_MS,
      state: { status: "open" },
    };
    await recordTask(deps, task);
  }
  const { value } = await commands.update(deps.ledger, key, tasksRecorded);
  // An operator may have cancelled a follow-task meanwhile, before its task had an item.
  await leaveTasks(deps, value);
  await deps.waker.wakeAt(now + FIRST_CHECK_MS);
};

/** Ends a command when all its tasks have ended: as failed unless all of them finished. */
const endByTasks = (command: Command, now: number): Command => {
  if (command.state.status !== "following") return command;
  const { tasks: followed } = command.state;
  if (followed.some(({ end }) => !end)) return command;
  const bad = followed.filter(({ end }) => end?.kind !== "finished");
  if (bad.length === 0) return succeed(command, { now, outcome: "done" });
  return fail(command, {
    now,
    reason: bad.some(({ end }) => end?.kind === "failed") ? "task-failed" : "task-unknown",
    problems: bad.map(({ id, end }) => ({ path: `tasks.${id}`, rule: end?.message ?? "failed" })),
  });
};

/** Leaves out created resources that do not fit a record: they can be read at the provider. */
const fitting = ({ state }: Command, { createdResources, ...end }: TaskEnd): TaskEnd => {
  const followed = state.status === "following" ? state.tasks : [];
  const known = followed.map((task) => task.end?.createdResources ?? {});
  return createdResources && isSmall([...known, createdResources])
    ? { ...end, createdResources }
    : end;
};

/** Records in a command how one of its tasks ended; the last one ends the command. Repeatable. */
export const reportTaskEnd = async (
  deps: CommandDeps,
  key: string,
  taskId: string,
  end: TaskEnd,
): Promise<void> => {
  const now = deps.clock.now();
  const command = await changeCommand(deps, key, (current) =>
    endByTasks(recordTaskEnd(current, taskId, fitting(current, end)), now),
  );
  if (isEnded(command) && !command.state.settled) await finishCommand(deps, command);
};
