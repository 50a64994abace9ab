import { commandedOperation } from "../../contract/operations.ts";
import { clipped, eventOf, listedProblems } from "../../events/event.ts";
import { publish } from "../../events/publish.ts";
import { type Command, commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { tellTaskEnd } from "../follow.ts";
import { depsFor, keyFields } from "../log-fields.ts";
import { redactorOf } from "../redaction.ts";
import {
  type EndedTaskState,
  endTask,
  isBeside,
  markTold,
  type Task,
  type TaskEnd,
  taskKey,
  tasks,
} from "../task.ts";

/** Instead of a text of which nobody can tell what is secret in it. */
const NOT_SHOWN =
  "the task failed; the provider's text may hold somebody's secrets and is not shown";

/** The text without the secrets of the command that the task belongs to. */
const redacted = async (
  deps: CommandDeps,
  { command: key, operation }: Task,
  text: string,
): Promise<string> => {
  const command = await commands.read(deps.ledger, key);
  const redact = redactorOf(commandedOperation(operation), command?.value.request);
  return clipped(redact(text));
};

/** What its followers may know is what the command that started the task may tell. */
const shownToFollower = async (
  deps: CommandDeps,
  { account, id }: Task,
  text: string,
): Promise<string> => {
  const started = (await tasks.read(deps.ledger, taskKey({ account, id })))?.value;
  // The key of another task's follower may read like that of a task.
  if (started?.id !== id || started.sharedAs) return NOT_SHOWN;
  const { state } = started;
  // The request is erased soon after, and with it what would tell its secrets.
  if (state.status === "failed" && state.message !== undefined) return state.message;
  return redacted(deps, started, text);
};

/**
 * What may be told of the provider's error text, which may quote the request that started the task.
 * Of a task that none of our commands started, or several, nobody knows whose secrets are in it.
 */
const shownText = async (deps: CommandDeps, task: Task, text: string): Promise<string> => {
  if (task.sharedAs) return NOT_SHOWN;
  return task.followedBy === undefined
    ? redacted(deps, task, text)
    : shownToFollower(deps, task, text);
};

const KINDS = { finished: "finished", failed: "failed", unknown: "unknown" } as const;

const taskEvent = (task: Task, state: EndedTaskState, command: Command) => {
  const { createdResources, message } = state;
  const fact = {
    // A task has one end, but each who waits for it is told for itself.
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
 * Tells the world and the command of a task's recorded end. Each step may be repeated; the task
 * stays due until all are done.
 * @throws Error when the event was not published; the task stays due
 */
export const tellOfTask = async (deps: CommandDeps, task: Task): Promise<void> => {
  const { state } = task;
  if (!("told" in state) || state.told) return;
  const command = await commands.read(deps.ledger, task.command);
  // A follow-task that an operator cancelled publishes nothing more.
  if (command && command.value.state.status !== "cancelled") {
    const own = depsFor(deps, command.value);
    const published = await publish(own, [taskEvent(task, state, command.value)]);
    if (published.size === 0) throw new Error("the end of a task could not be published");
    await tellTaskEnd(own, task.command, task.id, {
      kind: KINDS[state.status],
      ...(state.message !== undefined && { message: state.message }),
      ...(state.createdResources && { createdResources: state.createdResources }),
    });
  }
  await tasks.update(deps.ledger, taskKey(task), markTold);
};

/** The provider's text as it may be shown; what we say ourselves of a task stays as it is. */
const messageOf = async (
  deps: CommandDeps,
  task: Task,
  { status, message }: TaskEnd,
): Promise<string | undefined> =>
  status === "failed" && message !== undefined ? shownText(deps, task, message) : message;

/** Records that a task has ended, then tells of it. */
export const settleTask = async (deps: CommandDeps, task: Task, end: TaskEnd): Promise<void> => {
  const shown = await messageOf(deps, task, end);
  const { value } = await tasks.update(deps.ledger, taskKey(task), (current) => {
    // Another command may have been given the task in the meantime.
    const message = current.sharedAs && end.status === "failed" ? NOT_SHOWN : shown;
    return endTask(
      current,
      { ...end, ...(message !== undefined && { message }) },
      deps.clock.now(),
    );
  });
  await tellOfTask(deps, value);
};

/** The same deps with a log whose lines name the task and the command that waits for it. */
export const depsOfTask = (deps: CommandDeps, { command, account, id, operation }: Task) => ({
  ...deps,
  log: deps.log.with({ ...keyFields(command), account, operation, taskId: id }),
});
