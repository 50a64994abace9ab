import { commandedOperation } from "../../contract/operations.ts";
import { clipped, eventOf, listedProblems } from "../../events/event.ts";
import type { Stored } from "../../ledger/record.ts";
import type { Ledger } from "../../platform/ports/ledger.ts";
import { type Command, commands } from "../command.ts";
import type { CommandDeps } from "../deps.ts";
import { depsFor, keyFields } from "../deps.ts";
import { reportTaskEnd } from "../follow.ts";
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
 * Hands a task's recorded end to the command, and publishes it. Each step may be repeated; the task stays due
 * until all are done.
 * @throws Error when the event was not published
 */
export const publishTaskEnd = async (deps: CommandDeps, stored: Stored<Task>): Promise<void> => {
  const { value: task } = stored;
  const { state } = task;
  if (!("told" in state) || state.told) return;
  const command = await commands.read(deps.ledger, task.command);
  // A cancelled follow-task publishes nothing more.
  if (command && command.value.state.status !== "cancelled") {
    const { status: kind, message, createdResources } = state;
    await reportTaskEnd(depsFor(deps, command.value), command, {
      taskId: task.id,
      end: {
        kind,
        ...(message !== undefined && { message }),
        ...(createdResources && { createdResources }),
      },
      event: taskEvent(task, state, command.value),
    });
  }
  await tasks.update(deps.ledger, taskKey(task), markReported, stored);
};

/** Records that a task has ended, then publishes its end. @returns the ended task */
export const recordAndPublishEnd = async (
  deps: CommandDeps,
  known: Stored<Task>,
  { message: given, ...end }: TaskEnd,
): Promise<Stored<Task>> => {
  const { value: task } = known;
  const isProviderText = end.status === "failed" && given !== undefined;
  const shown = isProviderText ? await shownText(deps, task, given) : given;
  const change = (current: Task): Task => {
    // Another command may have got the task meanwhile.
    const message = current.sharedAs && end.status === "failed" ? NOT_SHOWN : shown;
    const shownEnd = { ...end, ...(message !== undefined && { message }) };
    return endTask(current, shownEnd, deps.clock.now());
  };
  const stored = await tasks.update(deps.ledger, taskKey(task), change, known);
  await publishTaskEnd(deps, stored);
  return stored;
};
