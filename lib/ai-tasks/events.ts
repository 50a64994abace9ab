import { type OutboxEvent, outboxEvent } from "../ledger/outbox.ts";
import type { AiTaskEnd } from "./shown-task.ts";

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
export const aiTaskEnded = (accountName: string, end: AiTaskEnd, time: number): OutboxEvent =>
  outboxEvent({
    ...about({ accountName, taskId: end.taskId, time }),
    detailType: "AiTaskEnded",
    identity: [accountName, end.taskId],
    data: { ...end },
  });

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
