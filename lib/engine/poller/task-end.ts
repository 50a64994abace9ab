import { commandedOperation } from "../../contract/operations.ts";
import { clipped, eventOf, listedProblems, publishNow } from "../../events/event.ts";
import { isUnreadable, type Stored } from "../../ledger/record.ts";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { type Command, commands, isEnded, isEndedByTasks } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { depsFor, keyFields } from "../deps.ts";
import { publishWithCommand, readTask, recordEndsInCommand } from "../follow.ts";
import { redactorOf } from "../redaction.ts";
import {
  type EndedTaskState,
  endTask,
  isBeside,
  isDone,
  recordEnd,
  type Task,
  type TaskEnd,
  taskKey,
  tasks,
} from "../task.ts";
import { MAX_SKEW_MS } from "./poller-memory.ts";

/** Replaces a provider's text that may hold secrets unknown to Skyhook. */
const NOT_SHOWN =
  "the task failed; the provider's text is hidden, because it may hold another client's secrets";

/** The same deps with the task and the command that waits for it in each log line. */
export const depsOfTask = (deps: CommandDeps, { command, account, id, operation }: Task) => ({
  ...deps,
  log: deps.log.with({ ...keyFields(command), account, operation, taskId: id }),
});

/**
 * The provider's error text of a task without the secrets of the request that started the task, which it may
 * quote. Those secrets are unknown if no command, or several commands, started the task.
 * @param task the record of the command that started it; undefined: none is known
 */
export const shownTaskError = async (
  ledger: Ledger,
  id: string,
  task: Task | undefined,
  text: string,
): Promise<string> => {
  // The item of another task's follower may have a key that looks like this task's.
  if (task?.id !== id || task.sharedAs) return NOT_SHOWN;
  const { state } = task;
  // The request is erased soon after, and its secrets are unknown then.
  if (state.status === "failed" && state.message !== undefined) return state.message;
  const command = await commands.read(ledger, task.command);
  const redact = redactorOf(commandedOperation(task.operation), command?.value.request);
  return clipped(redact(text));
};

const shownText = async ({ ledger }: CommandDeps, task: Task, text: string): Promise<string> => {
  const { account, id, followedBy, sharedAs } = task;
  if (sharedAs) return NOT_SHOWN;
  const started =
    followedBy === undefined ? task : (await tasks.read(ledger, taskKey({ account, id })))?.value;
  return shownTaskError(ledger, id, started, text);
};

/** The event of a task's recorded end. */
export const taskEvent = (task: Task, state: EndedTaskState, command: Command) => {
  const { createdResources, message } = state;
  const fact = {
    // A task has one end, but each command that waits for it publishes its own event.
    identity: [task.account, task.id, ...(isBeside(task) ? [task.command] : [])],
    subject: command.lane,
    time: state.endedAt,
    correlationId: command.correlationId,
    causationId: command.causationId,
    account: task.account,
    sender: command.sender,
    commandId: command.id,
  };
  const data = {
    operation: task.operation,
    lane: command.lane,
    taskId: task.id,
    durationMs: Math.max(0, state.endedAt - task.recordedAt),
  };
  if (state.status === "finished") {
    return eventOf({
      ...fact,
      detailType: "TaskFinished",
      data: { ...data, ...(createdResources && { createdResources }) },
    });
  }
  return eventOf({
    ...fact,
    detailType: "TaskFailed",
    data: {
      ...data,
      reason: state.status === "failed" ? "task-failed" : "task-unknown",
      problems: listedProblems([{ path: "", rule: message ?? "" }]),
    },
  });
};

/** Whether the command follows the task, or has followed it to its end. */
const isFollowed = ({ state }: Command, taskId: string): boolean =>
  "tasks" in state && state.tasks.some(({ id }) => id === taskId);

const isOnlyTask = ({ state }: Command): boolean => "tasks" in state && state.tasks.length === 1;

/**
 * The end of an only task in the end of its command, which may be the only record of it until the events of both are
 * published.
 */
export const endInCommand = (command: Command, taskId: string): EndedTaskState | undefined => {
  const { state } = command;
  if (!("endedAt" in state) || !isOnlyTask(command)) return undefined;
  const end = state.tasks.find(({ id }) => id === taskId)?.end;
  if (!end) return undefined;
  const { kind: status, ...rest } = end;
  return { status, ...rest, endedAt: state.endedAt, told: false };
};

/** The end to publish; undefined: the task is open. If two processes have seen two ends, that of the command counts. */
const endToPublish = (
  { id, state }: Task,
  command: Command | undefined,
): EndedTaskState | undefined => {
  const own = "told" in state ? state : undefined;
  const inCommand = command && endInCommand(command, id);
  return own && (!inCommand || inCommand.status === own.status) ? own : inCommand;
};

/** The end of a task as its command records it. */
const endOf = ({ status: kind, message, createdResources }: TaskEnd) => ({
  kind,
  ...(message !== undefined && { message }),
  ...(createdResources && { createdResources }),
});

type EndedTask = Task & { readonly state: EndedTaskState };

/**
 * The items of the command's tasks that have ended, but may not have published it.
 * @throws Error when an item cannot be read
 */
const unpublishedTasks = async (
  { ledger }: CommandDeps,
  command: Command,
): Promise<readonly EndedTask[]> => {
  const followed = "tasks" in command.state ? command.state.tasks : [];
  const items = await Promise.all(followed.map(({ id }) => readTask(ledger, command, id)));
  return items.flatMap((item) =>
    item && "told" in item.state && !item.state.told ? [{ ...item, state: item.state }] : [],
  );
};

/**
 * Records in a command, at its deadline, the ends of its tasks that the bus has not taken: they may be all that it waits
 * for. An item of a newer version says nothing.
 */
export const recordKnownEnds = async (
  deps: CommandDeps,
  stored: Stored<Command>,
): Promise<Stored<Command>> => {
  try {
    const ended = await unpublishedTasks(deps, stored.value);
    if (ended.length === 0) return stored;
    const ends = new Map(ended.map(({ id, state }) => [id, endOf(state)]));
    return (await recordEndsInCommand(deps, stored, ends)).command;
  } catch (error) {
    if (isUnreadable(error)) return stored;
    throw error;
  }
};

/**
 * Publishes the ends of the other tasks of a command that has them already, before its own end.
 * @throws Error when an event was not published
 */
const publishOtherEnds = async (
  deps: CommandDeps,
  command: Command,
  taskId: string,
): Promise<void> => {
  const { state, deadline } = command;
  // Of several tasks each event is published before the command gets the end, except at its deadline.
  if (!("endedAt" in state) || state.endedAt < deadline - MAX_SKEW_MS || !isEndedByTasks(state))
    return;
  const others = (await unpublishedTasks(deps, command)).filter(({ id }) => id !== taskId);
  for (const task of others) await publishNow(deps, taskEvent(task, task.state, command));
};

/**
 * Hands the end of a task to its command, and publishes both as far as they are due. Repeatable.
 * @returns the end as it was published
 */
const publishInOrder = async (
  deps: CommandDeps,
  command: Stored<Command>,
  task: Task,
  state: EndedTaskState,
): Promise<EndedTaskState> => {
  const its = depsFor(deps, command.value);
  // Of several tasks each event is published before the command may end, because another task may end it.
  const isOnly = isOnlyTask(command.value);
  if (!isOnly) await publishNow(its, taskEvent(task, state, command.value));
  const ended = endInCommand(command.value, task.id)
    ? command
    : (await recordEndsInCommand(its, command, new Map([[task.id, endOf(state)]]))).command;
  // The event of an only task leaves with that of its command, and another process may have recorded another end.
  const final = endToPublish(task, ended.value) ?? state;
  if (!isOnly) await publishOtherEnds(its, ended.value, task.id);
  await publishWithCommand(its, ended, isOnly ? [taskEvent(task, final, ended.value)] : []);
  return final;
};

/**
 * Publishes the end of a task that the task's item has, or its command alone, and hands it to the command. Each step may
 * be repeated; the task stays due until all are done.
 * @param known its command as it was read a moment ago; default: it is read
 * @param isOwnEnd whether the caller has just recorded the end in the command
 * @returns the task as it is recorded then, which is still open if it has no end
 * @throws Error when an event was not published; the item has the end then, so that the task is not checked again
 */
export const publishTaskEnd = async (
  deps: CommandDeps,
  stored: Stored<Task>,
  known?: Stored<Command>,
  isOwnEnd = false,
): Promise<Stored<Task>> => {
  const { value: task } = stored;
  if (isDone(task)) return stored;
  const command = known ?? (await commands.read(deps.ledger, task.command));
  const state = endToPublish(task, command?.value);
  if (!state) return stored;
  if (task.state.status === "open" && !isOwnEnd) {
    // Another process may have recorded the end in the item first, with another time, and then in the command.
    const newest = await tasks.read(deps.ledger, taskKey(task));
    if (newest && newest.value.state.status !== "open")
      return publishTaskEnd(deps, newest, command);
  }
  const record = (end: EndedTaskState): Promise<Stored<Task>> =>
    tasks.update(deps.ledger, taskKey(task), (current) => recordEnd(current, end), stored);
  // A cancelled follow-task publishes nothing more, and a task that the command never followed nothing at all.
  const isSilent =
    !command || command.value.state.status === "cancelled" || !isFollowed(command.value, task.id);
  try {
    const published = isSilent ? state : await publishInOrder(deps, command, task, state);
    return await record({ ...published, told: true });
  } catch (error) {
    if (task.state.status === "open") await record(state);
    throw error;
  }
};

/**
 * Records in a command the success of its only task, which ends it, or finds the end that it has.
 * @returns undefined when it has no end of the task, which has to be recorded in the task's item first
 */
const endWithOnlyTask = async (
  deps: CommandDeps,
  command: Stored<Command>,
  taskId: string,
  end: TaskEnd,
): Promise<Awaited<ReturnType<typeof recordEndsInCommand>> | undefined> => {
  const { value } = command;
  // The text of a failure depends on the newest state of the task's item.
  if (!isOnlyTask(value) || !isFollowed(value, taskId)) return undefined;
  if (end.status !== "finished" && !isEnded(value)) return undefined;
  const ended = await recordEndsInCommand(
    depsFor(deps, value),
    command,
    new Map([[taskId, endOf(end)]]),
  );
  return endInCommand(ended.command.value, taskId) && ended;
};

/**
 * Records that a task has ended, then publishes its end.
 * @returns the ended task, or the open one if its command may still record that it follows the task
 */
export const recordAndPublishEnd = async (
  deps: CommandDeps,
  known: Stored<Task>,
  end: TaskEnd,
): Promise<Stored<Task>> => {
  const { value: task } = known;
  const command = await commands.read(deps.ledger, task.command);
  // An attempt may have written the task's item just now, and the command next.
  if (command && !("tasks" in command.value.state)) return known;
  const ended = command && (await endWithOnlyTask(deps, command, task.id, end));
  if (ended) return publishTaskEnd(deps, known, ended.command, ended.isNews);
  const { message: given, ...rest } = end;
  const isProviderText = end.status === "failed" && given !== undefined;
  const shown = isProviderText ? await shownText(deps, task, given) : given;
  const change = (current: Task): Task => {
    // Another command may have got the task meanwhile.
    const message = current.sharedAs && end.status === "failed" ? NOT_SHOWN : shown;
    const shownEnd = { ...rest, ...(message !== undefined && { message }) };
    return endTask(current, shownEnd, deps.clock.now());
  };
  const stored = await tasks.update(deps.ledger, taskKey(task), change, known);
  // An operator may have cancelled the command meanwhile, so it is read again.
  return publishTaskEnd(deps, stored);
};
