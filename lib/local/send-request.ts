import { createHash } from "node:crypto";
import type { CommandDeps } from "../commands/deps.ts";
import { groupIdOf } from "../commands/lane-id.ts";
import { readMessage } from "../commands/message.ts";

/** Requests that are no command wait in a group of their own, so that they hold nobody up. */
const REJECTED_GROUP = "rejected";

/** What SQS takes as a deduplication id. */
const DEDUPLICATION_ID = /^[!-~]{1,128}$/;
/** What SQS does not take in a body, and JSON text can hold in its strings. */
const NOT_IN_A_BODY = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export interface SentIdentity {
  readonly commandId: string | undefined;
  readonly eventId: string | undefined;
}

/** The event's own id where the queue takes it, else a name that stands for it. */
export const deduplicationIdOf = (eventId: string): string =>
  DEDUPLICATION_ID.test(eventId) ? eventId : createHash("sha256").update(eventId).digest("hex");

/** The same JSON without characters that the queue does not take. */
const escaped = (json: string): string =>
  json.replace(
    NOT_IN_A_BODY,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

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
    body: escaped(body),
    groupId: message.lane === undefined ? REJECTED_GROUP : groupIdOf(message.lane),
    deduplicationId: deduplicationIdOf(eventId ?? deps.random.uuid()),
  });
  return { commandId, eventId };
};
