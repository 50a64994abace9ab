import { type OutboxEvent, outboxEvent } from "../ledger/outbox.ts";
import { type ShownAiTask, taskDataOf, taskNameOf } from "./shown-task.ts";

interface AboutTask {
  readonly accountName: string;
  readonly taskId: string;
  /** When it was seen, epoch ms. */
  readonly time: number;
}

/** What every event about one task has in common. */
const about = ({ accountName, taskId, time }: AboutTask) => {
  const causationId = `ai-task/${accountName}/${taskId}`;
  const subject = `${accountName}/${taskId}`;
  return { subject, time, account: accountName, correlationId: causationId, causationId };
};

/** A task has ended. One task has one such event. */
export const aiTaskEnded = (accountName: string, task: ShownAiTask, time: number): OutboxEvent => {
  const { task_id: taskId, status, progress } = task;
  const taskName = taskNameOf(task);
  const taskData = taskDataOf(task);
  return outboxEvent({
    ...about({ accountName, taskId, time }),
    detailType: "AiTaskEnded",
    identity: [accountName, taskId],
    data: {
      taskId,
      status,
      ...(taskName !== undefined && { taskName }),
      ...(typeof progress === "number" && { progress }),
      ...(taskData !== undefined && { taskData }),
    },
  });
};

/** The provider no longer knows a task that was at work. Each absence has one such event. */
export const aiTaskVanished = (
  vanished: AboutTask & { readonly taskName: string | undefined; readonly missingSince: number },
): OutboxEvent => {
  const { accountName, taskId, taskName } = vanished;
  const missingSince = new Date(vanished.missingSince).toISOString();
  return outboxEvent({
    ...about(vanished),
    detailType: "AiTaskVanished",
    identity: [accountName, taskId, missingSince],
    data: { taskId, ...(taskName !== undefined && { taskName }), missingSince },
  });
};
