import { createHash } from "node:crypto";
import { parseJson } from "../contract/json.ts";
import type { Problem } from "../contract/problem.ts";
import type { CommandDeps } from "../engine/deps.ts";
import { groupIdOf } from "../engine/lane.ts";
import { messageText, readMessage } from "../engine/queue-message.ts";
import { shapeProblems } from "../engine/read-request.ts";

/** Requests that are no command wait in a group of their own, so that they hold nobody up. */
const REJECTED_GROUP = "rejected";

/** What SQS takes as a deduplication id. */
const DEDUPLICATION_ID = /^[!-~]{1,128}$/;

/** What becomes of a text that is sent as a request. */
export type SendOutcome =
  | {
      readonly kind: "sent";
      readonly commandId: string | undefined;
      readonly eventId: string | undefined;
    }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

/** The event's own id where the queue takes it, else a name that stands for it. */
export const deduplicationIdOf = (eventId: string): string =>
  DEDUPLICATION_ID.test(eventId) ? eventId : createHash("sha256").update(eventId).digest("hex");

/**
 * Puts a request on the command queue as a sender in the cloud does: in the group of its lane, with
 * its event's id for deduplication. Its operation and fields are checked by the worker that takes it.
 * @param body the detail of a `CommandRequested`, as JSON text; anything else is refused
 */
export const sendRequest = async (deps: CommandDeps, body: string): Promise<SendOutcome> => {
  const json = parseJson(body);
  const problems =
    json === undefined ? [{ path: "", rule: "not readable as JSON" }] : shapeProblems(json);
  const message = readMessage(body, deps);
  if (problems.length > 0 || message.kind === "resume") return { kind: "refused", problems };
  const { commandId, eventId } = message.kind === "request" ? message.request : message.rejection;
  await deps.queue.send({
    body: messageText(body),
    groupId: message.lane === undefined ? REJECTED_GROUP : groupIdOf(message.lane),
    deduplicationId: deduplicationIdOf(eventId ?? deps.random.uuid()),
  });
  return { kind: "sent", commandId, eventId };
};
