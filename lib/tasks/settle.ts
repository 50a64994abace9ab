import type { CommandDeps } from "../commands/deps.ts";
import { tellTaskEnd } from "../commands/follow.ts";
import { commandOperation } from "../commands/operations/by-id.ts";
import { redactorOf } from "../commands/redaction.ts";
import { eventOf } from "../events/event.ts";
import { clipped, listedProblems } from "../events/listing.ts";
import { publish } from "../events/publish.ts";
import { type Command, commands } from "../ledger/command.ts";
import {
  type EndedTaskState,
  endTask,
  markTold,
  type Task,
  type TaskEnd,
  taskKey,
  tasks,
} from "../ledger/task.ts";

const KINDS = { finished: "finished", failed: "failed", unknown: "unknown" } as const;

const taskEvent = (task: Task, state: EndedTaskState, command: Command) => {
  const created = state.createdResources;
  return eventOf({
    detailType: state.status === "finished" ? "TaskFinished" : "TaskFailed",
    // A task has one end, but each who follows it is told for itself.
    identity: [task.account, task.id, ...(task.followedBy === undefined ? [] : [task.command])],
    subject: command.lane,
    time: state.endedAt,
    correlationId: command.correlationId,
    causationId: command.causationId,
    account: task.account,
    sender: command.sender,
    commandId: command.id,
    data: {
      operation: task.operation,
      lane: command.lane,
      taskId: task.id,
      durationMs: Math.max(0, state.endedAt - task.recordedAt),
      ...(state.status === "finished"
        ? created && { createdResources: created }
        : {
            reason: state.status === "failed" ? "task-failed" : "task-unknown",
            problems: listedProblems([{ path: "", rule: state.message ?? "" }]),
          }),
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
  if (command) {
    const published = await publish(deps, [taskEvent(task, state, command.value)]);
    if (published.size === 0) throw new Error("the end of a task could not be published");
    await tellTaskEnd(deps, task.command, task.id, {
      kind: KINDS[state.status],
      ...(state.message !== undefined && { message: state.message }),
      ...(state.createdResources && { createdResources: state.createdResources }),
    });
  }
  await tasks.update(deps.ledger, taskKey(task), markTold);
};

/** Records that a task has ended, then tells of it. */
export const settleTask = async (deps: CommandDeps, task: Task, end: TaskEnd): Promise<void> => {
  const command = await commands.read(deps.ledger, task.command);
  // The provider may quote the request in its error text.
  const redact = redactorOf(commandOperation(task.operation).operation, command?.value.request);
  const message = end.message === undefined ? undefined : clipped(redact(end.message));
  const { value } = await tasks.update(deps.ledger, taskKey(task), (current) =>
    endTask(current, { ...end, ...(message !== undefined && { message }) }, deps.clock.now()),
  );
  await tellOfTask(deps, value);
};
