import type { CommandDeps } from "../commands/deps.ts";
import { groupIdOf } from "../commands/lane-id.ts";
import { readMessage } from "../commands/message.ts";

/** Requests that are no command wait in a group of their own, so that they hold nobody up. */
const REJECTED_GROUP = "rejected";

export interface SentIdentity {
  readonly commandId: string | undefined;
  readonly eventId: string | undefined;
}

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
  const message = readMessage(body, (name) => deps.accountOf(name) !== undefined);
  if (message.kind === "resume") return undefined;
  const { commandId, eventId } = message.kind === "request" ? message.request : message.rejection;
  await deps.queue.send({
    body,
    groupId: message.lane === undefined ? REJECTED_GROUP : groupIdOf(message.lane),
    deduplicationId: eventId ?? deps.random.uuid(),
  });
  return { commandId, eventId };
};
