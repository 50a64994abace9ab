import { followTask } from "../contract/tasks.ts";
import { publishNow } from "../events/event.ts";
import type { Stored } from "../ledger/record.ts";
import type { BusEntry } from "../platform/ports/bus.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import {
  type Command,
  commandKey,
  commands,
  type FollowedTask,
  isEnded,
  isEndedByTasks,
} from "./command.ts";
import { fail, isSmall, succeed } from "./command-events.ts";
import { recordTaskEnd, tasksRecorded } from "./command-transitions.ts";
import { type CommandDeps, errorFields } from "./deps.ts";
import { changeCommand, finishByTask, leaveTasks } from "./finish.ts";
import { FIRST_CHECK_MS, markShared, type Task, taskKey, tasks } from "./task.ts";

type TaskEnd = NonNullable<FollowedTask["end"]>;

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

const openTaskOf = (command: Command, id: string, now: number): Task => ({
  account: command.account,
  id,
  command: commandKey(command),
  operation: command.operation,
  ...(command.operation === followTask.id && { followedBy: command.sender }),
  deadline: command.deadline,
  recordedAt: now,
  lookAt: now + FIRST_CHECK_MS,
  state: { status: "open" },
});

/** The reply has to be recorded, so its command waits no longer for the item of the task. */
const ITEM_MS = 1_000;

/**
 * Writes the item of the only task of a reply before the command, which then needs no second write. The task stays open
 * until the command follows it, or has ended: a process may die in between. If the item is not written, the task gets it
 * after the command, as several tasks do.
 * @param following the command after the reply, not written yet
 * @returns the command to write
 */
export const recordOnlyTask = async (
  { ledger, clock, log }: CommandDeps,
  following: Command,
): Promise<Command> => {
  if (following.state.status !== "following") return following;
  const [first, ...others] = following.state.tasks;
  if (!first || others.length > 0) return following;
  const task = openTaskOf(following, first.id, clock.now());
  const written = new AbortController();
  const late = clock.sleep(ITEM_MS, written.signal).then(() => undefined);
  try {
    const isNew = await Promise.race([tasks.write(ledger, taskKey(task), undefined, task), late]);
    // The command that has an item of the task already may be another one.
    return isNew ? tasksRecorded(following) : following;
  } catch (error) {
    log.warn("item of the task not written; it is written again", errorFields(error));
    return following;
  } finally {
    written.abort("written");
  }
};

/** Wakes the poller for the first check of a command's tasks. */
export const wakeForTasks = async (
  { clock, shards, waker }: CommandDeps,
  { account, state }: Command,
): Promise<void> => {
  const [first] = state.status === "following" ? state.tasks : [];
  if (!first) return;
  // One wake signal, because all tasks of an account have one shard.
  const shard = shards.of(tasks.itemKey(taskKey({ account, id: first.id })));
  await waker.wakeAt(clock.now() + FIRST_CHECK_MS, shard);
};

/**
 * Gives every task of a following command its own item. The items are due in place of the command then. Repeatable: a
 * crash in between leaves the command due at once.
 */
export const recordTasks = async (deps: CommandDeps, stored: Stored<Command>): Promise<void> => {
  const { value: command } = stored;
  if (command.state.status !== "following" || command.state.tasksRecorded) return;
  const now = deps.clock.now();
  const key = commandKey(command);
  for (const { id } of command.state.tasks) await recordTask(deps, openTaskOf(command, id, now));
  const { value } = await commands.update(deps.ledger, key, tasksRecorded, stored);
  // An operator may have cancelled a follow-task meanwhile, before its task had an item.
  await leaveTasks(deps, value);
  await wakeForTasks(deps, value);
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
  const known = followed.flatMap((task) => {
    const resources = task.end?.createdResources;
    return resources ? [resources] : [];
  });
  return createdResources && isSmall([...known, createdResources])
    ? { ...end, createdResources }
    : end;
};

/**
 * Reads the command's own item for a task, in one or two reads; another command may have an item for the same
 * task.
 */
export const readTask = async (
  ledger: Ledger,
  command: Command,
  id: string,
): Promise<Task | undefined> => {
  const { account, sender } = command;
  const key = commandKey(command);
  const beside = { account, id, command: key, followedBy: sender };
  const places = command.operation === followTask.id ? [beside] : [{ account, id }, beside];
  for (const item of places) {
    const task = (await tasks.read(ledger, taskKey(item)))?.value;
    if (task?.command === key && task.id === id) return task;
  }
  return undefined;
};

/**
 * Records in a command how its tasks ended. The last one ends the command. Repeatable.
 * @param ends by task id
 * @returns the command, and whether it had not ended before
 */
export const recordEndsInCommand = async (
  deps: CommandDeps,
  known: Stored<Command>,
  ends: ReadonlyMap<string, TaskEnd>,
): Promise<{ readonly command: Stored<Command>; readonly isNews: boolean }> => {
  let isNews = false;
  const change = (current: Command): Command => {
    isNews = !isEnded(current);
    let next = current;
    for (const [id, end] of ends) next = recordTaskEnd(next, id, fitting(next, end));
    return endByTasks(next, deps.clock.now());
  };
  const command = await changeCommand(deps, commandKey(known.value), change, known);
  return { command, isNews };
};

/**
 * Publishes events of a command's tasks, and finishes the command if its tasks have ended it.
 * @throws Error when an event was not published
 */
export const publishWithCommand = async (
  deps: CommandDeps,
  stored: Stored<Command>,
  taskEvents: readonly BusEntry[],
): Promise<void> => {
  const { value } = stored;
  const isLast = isEnded(value) && !value.state.settled && isEndedByTasks(value.state);
  if (isLast) return finishByTask(deps, stored, taskEvents);
  for (const event of taskEvents) await publishNow(deps, event);
};
