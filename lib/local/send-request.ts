import { createHash } from "node:crypto";
import type { CommandDeps } from "../commands/deps.ts";
import { groupIdOf } from "../commands/lane-id.ts";
import { readMessage } from "../commands/message.ts";
import { messageText } from "../commands/message-text.ts";

/** Requests that are no command wait in a group of their own, so that they hold nobody up. */
const REJECTED_GROUP = "rejected";

/** What SQS takes as a deduplication id. */
const DEDUPLICATION_ID = /^[!-~]{1,128}$/;

export interface SentIdentity {
  readonly commandId: string | undefined;
  readonly eventId: string | undefined;
}

/** The event's own id where the queue takes it, else a name that stands for it. */
export const deduplicationIdOf = (eventId: string): string =>
  DEDUPLICATION_ID.test(eventId) ? eventId : createHash("sha256").update(eventId).digest("hex");

/**
 * Puts a request on the command queue as a sender in the cloud does: in the group of its lane, with
 * its event's id for deduplication. Whether it is a command is decided by whoever takes it.
 * @param body the detail of a `CommandRequested`, as JSON text
 * @returns undefined for one of our own messages, which nobody else may send
 */
export const sendRequest = async (
  deps: CommandDeps,
  body: string,
): Promise<SentIdentity | undefined> => {
  const message = readMessage(body, deps);
  if (message.kind === "resume") return undefined;
  const { commandId, eventId } = message.kind === "request" ? message.request : message.rejection;
  await deps.queue.send({
    body: messageText(body),
    groupId: message.lane === undefined ? REJECTED_GROUP : groupIdOf(message.lane),
    deduplicationId: deduplicationIdOf(eventId ?? deps.random.uuid()),
  });
  return { commandId, eventId };
};
