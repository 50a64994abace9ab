import { isoText } from "../../events/event.ts";
import { type OutboxEvent, outboxEvent } from "../../ledger/outbox.ts";
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

/** All events about one refusal of the list have the refusal as their cause. */
const aboutList = (accountName: string, time: number, refusedSince: number) => {
  const causationId = `accounts/${accountName}/ai-task-list-refused/${isoText(refusedSince)}`;
  const subject = `accounts/${accountName}`;
  return { subject, time, account: accountName, correlationId: causationId, causationId };
};

/** The provider refuses the list of AI tasks to this account. Each refusal has one such event. */
export const aiTaskListRefused = (
  accountName: string,
  since: number,
  refusal: { readonly status: number; readonly problem: string },
): OutboxEvent =>
  outboxEvent({
    ...aboutList(accountName, since, since),
    detailType: "AiTaskListRefused",
    identity: [accountName, String(since)],
    data: { since: isoText(since), ...refusal },
  });

/** The provider shows the list again. Each refusal has one such event. */
export const aiTaskListAccepted = (
  accountName: string,
  since: number,
  refusedSince: number,
): OutboxEvent =>
  outboxEvent({
    ...aboutList(accountName, since, refusedSince),
    detailType: "AiTaskListAccepted",
    identity: [accountName, String(refusedSince)],
    data: { since: isoText(since), refusedSince: isoText(refusedSince) },
  });

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
  const missingSince = isoText(vanished.missingSince);
  return outboxEvent({
    ...about(vanished),
    detailType: "AiTaskVanished",
    identity: [accountName, taskId, missingSince],
    data: { taskId, ...(taskName !== undefined && { taskName }), missingSince },
  });
};
