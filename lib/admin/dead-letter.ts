import * as z from "zod";
import { parseJson } from "../contract/json.ts";
import {
  claimedSealed,
  openSealed,
  resumeSchema,
  type SealedRequest,
} from "../engine/queue-message.ts";
import { identityOf } from "../engine/read-request.ts";
import type { RequestContext } from "../engine/request.ts";
import { readCall, sentAtOf } from "../intake/bus-event.ts";
import { type IntakeDeps, reactionCommandId, readTaskFollow } from "../intake/ingest.ts";
import type { DeadLetter } from "../platform/ports/dead-letters.ts";

/** How a request reached the queue, from the message alone. */
type Origin = "direct" | "event" | "intake" | "intake-unchecked";

type Source = Omit<RequestContext, "access">;

/** The content of a message of the command queue or of intake's queue. Rights are not checked. */
export type DeadLetterContent =
  | { readonly kind: "resume"; readonly command: string }
  | {
      readonly kind: "request";
      readonly origin: Origin;
      readonly source: Source;
      /** Absent: its rejection cannot be published. */
      readonly commandId: string | undefined;
      readonly detail: Readonly<Record<string, unknown>>;
    }
  /** An event that a reaction turns into a command. */
  | {
      readonly kind: "reaction";
      readonly reaction: string;
      readonly source: Source;
      readonly commandId: string;
      /** False for an unknown rule: one with `key` gives its command another id. */
      readonly isIdKnown: boolean;
    }
  /** An event that intake does not process. */
  | { readonly kind: "ignored"; readonly why: string }
  /** Has a seal that was not made with Skyhook's fingerprint key. */
  | { readonly kind: "forged"; readonly sender: string }
  | { readonly kind: "unreadable"; readonly why: string };

export interface DeadLetterContext {
  /** Sender of every request that was sent to the command queue directly. */
  readonly ownSender: string;
  /** Key of intake's seal; undefined: unknown, and seals are not checked. */
  readonly fingerprintKey: string | undefined;
  /** Undefined: unknown. */
  readonly reactions: IntakeDeps["reactions"] | undefined;
}

const NO_ACCESS = { accountsOf: () => [], mayRun: () => false, maySee: () => false };

const readRequestContent = (detail: unknown, origin: Origin, source: Source): DeadLetterContent => {
  if (detail === undefined) return { kind: "unreadable", why: "not JSON" };
  const fields = z.record(z.string(), z.unknown()).safeParse(detail).data;
  if (!fields) return { kind: "unreadable", why: "JSON, but not an object" };
  const { commandId } = identityOf(detail, { ...source, access: NO_ACCESS });
  return { kind: "request", origin, source, commandId, detail: fields };
};

const readSealed = (
  sealed: SealedRequest,
  json: unknown,
  key: string | undefined,
): DeadLetterContent => {
  if (key !== undefined && !openSealed(json, key)) return { kind: "forged", sender: sealed.sender };
  const { sender, eventId, sentAt, detail } = sealed;
  const origin = key === undefined ? "intake-unchecked" : "intake";
  return readRequestContent(parseJson(detail), origin, { sender, eventId, sentAt });
};

/** Reads a message body as intake does. */
const readEvent = (
  body: string,
  reactions: DeadLetterContext["reactions"] = [],
): DeadLetterContent => {
  const call = readCall(parseJson(body));
  if (!call) return { kind: "ignored", why: "not an event from an EventBridge rule" };
  const { event, reaction: name } = call;
  const source = { sender: event.account, eventId: event.id, sentAt: sentAtOf(event) };
  if (name !== undefined) {
    const known = reactionCommandId(reactions, name, event);
    const commandId = known ?? `${event.id}:${name}`;
    const isIdKnown = known !== undefined;
    return { kind: "reaction", reaction: name, source, commandId, isIdKnown };
  }
  switch (event["detail-type"]) {
    case "CommandRequested":
      return readRequestContent(event.detail, "event", source);
    case "TaskFollowRequested":
      return readRequestContent(
        readTaskFollow(event.detail, { ...source, access: NO_ACCESS }).detail,
        "event",
        source,
      );
    default:
      return { kind: "ignored", why: `no request in an event of type ${event["detail-type"]}` };
  }
};

/** Reads a message body in the same way as the function that failed to process it. Pure. */
export const readDeadLetter = (
  { queue, body }: Pick<DeadLetter, "queue" | "body">,
  { ownSender, fingerprintKey, reactions }: DeadLetterContext,
): DeadLetterContent => {
  if (queue === "requests") return readEvent(body, reactions);
  const json = parseJson(body);
  const resume = resumeSchema.safeParse(json);
  if (resume.success) return { kind: "resume", command: resume.data.resume.command };
  const sealed = claimedSealed(json);
  return sealed
    ? readSealed(sealed, json, fingerprintKey)
    : readRequestContent(json, "direct", { sender: ownSender });
};
