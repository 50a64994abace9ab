import { commandedOperation } from "../../contract/operations.ts";
import { clipped, eventOf, listedProblems } from "../../events/event.ts";
import type { Stored } from "../../ledger/record.ts";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { type Command, commands, isEnded } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { depsFor, keyFields } from "../deps.ts";
import { publishWithCommand, recordEndInCommand } from "../follow.ts";
import { redactorOf } from "../redaction.ts";
import {
  type EndedTaskState,
  endTask,
  isBeside,
  markReported,
  type Task,
  type TaskEnd,
  taskKey,
  tasks,
} from "../task.ts";

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

/**
 * The end of a task that its command knows although the task's item does not. The command's end is the only record of the
 * end of an only task until the events of both are published.
 */
export const endInCommand = ({ state }: Command, taskId: string): EndedTaskState | undefined => {
  if (!("endedAt" in state)) return undefined;
  const end = state.tasks.find(({ id }) => id === taskId)?.end;
  if (!end) return undefined;
  const { kind: status, ...rest } = end;
  return { status, ...rest, endedAt: state.endedAt, told: false };
};

const isOnlyTask = ({ state }: Command): boolean => "tasks" in state && state.tasks.length === 1;

/** The end of a task as its command records it. */
const endOf = ({ status: kind, message, createdResources }: TaskEnd) => ({
  kind,
  ...(message !== undefined && { message }),
  ...(createdResources && { createdResources }),
});

/**
 * Hands a task's recorded end to the command, and publishes it. Each step may be repeated; the task stays due
 * until all are done.
 * @param known its command as it was read a moment ago; default: it is read
 * @throws Error when the event was not published
 */
export const publishTaskEnd = async (
  deps: CommandDeps,
  stored: Stored<Task>,
  known?: Stored<Command>,
): Promise<void> => {
  const { value: task } = stored;
  const { state } = task;
  if (!("told" in state) || state.told) return;
  const command = known ?? (await commands.read(deps.ledger, task.command));
  // A cancelled follow-task publishes nothing more.
  if (command && command.value.state.status !== "cancelled") {
    const its = depsFor(deps, command.value);
    const events = [taskEvent(task, state, command.value)];
    // The event of an only task leaves with that of its command. Of several tasks each is published before the command
    // may end, because another one may end it.
    const isOnly = isOnlyTask(command.value);
    if (!isOnly) await publishWithCommand(its, command, events);
    const ended = await recordEndInCommand(its, command, task.id, endOf(state));
    await publishWithCommand(its, ended, isOnly ? events : []);
  }
  await tasks.update(deps.ledger, taskKey(task), markReported, stored);
};

/**
 * Publishes the end of a task that only its command has recorded, then records it in the task too.
 * @throws Error when an event was not published; the task has its end then, so that it is not checked again
 */
const publishEndInCommand = async (
  deps: CommandDeps,
  known: Stored<Task>,
  command: Stored<Command>,
  state: EndedTaskState,
): Promise<Stored<Task>> => {
  const { value: task } = known;
  const record = (change: (ended: Task) => Task): Promise<Stored<Task>> =>
    tasks.update(
      deps.ledger,
      taskKey(task),
      (current) => change(endTask(current, state, state.endedAt)),
      known,
    );
  try {
    const event = taskEvent(task, state, command.value);
    await publishWithCommand(depsFor(deps, command.value), command, [event]);
  } catch (error) {
    await record((ended) => ended);
    throw error;
  }
  return record(markReported);
};

/** Publishes the end of an open task if its command has it. @returns the ended task; undefined: it has none */
export const publishKnownEnd = async (
  deps: CommandDeps,
  known: Stored<Task>,
): Promise<Stored<Task> | undefined> => {
  const command = await commands.read(deps.ledger, known.value.command);
  const state = command && endInCommand(command.value, known.value.id);
  return state && publishEndInCommand(deps, known, command, state);
};

/**
 * Records in a command the success of its only task, which ends it.
 * @returns the command; undefined when the task has another end, or has to be recorded first
 */
const endWithOnlyTask = async (
  deps: CommandDeps,
  command: Stored<Command>,
  taskId: string,
  end: TaskEnd,
): Promise<Stored<Command> | undefined> => {
  const { value } = command;
  if (endInCommand(value, taskId)) return command;
  // The text of a failure depends on the newest state of the task's item.
  const isRecordedFirst = !isOnlyTask(value) || end.status !== "finished" || isEnded(value);
  return isRecordedFirst
    ? undefined
    : recordEndInCommand(depsFor(deps, value), command, taskId, endOf(end));
};

/** Records that a task has ended, then publishes its end. @returns the ended task */
export const recordAndPublishEnd = async (
  deps: CommandDeps,
  known: Stored<Task>,
  end: TaskEnd,
): Promise<Stored<Task>> => {
  const { value: task } = known;
  const command = await commands.read(deps.ledger, task.command);
  const ended = command && (await endWithOnlyTask(deps, command, task.id, end));
  const state = ended && endInCommand(ended.value, task.id);
  if (ended && state) return publishEndInCommand(deps, known, ended, state);
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
  await publishTaskEnd(deps, stored, ended ?? command);
  return stored;
};
