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

/** How a request got into the queue, as far as that can be told. */
type Origin = "direct" | "event" | "intake" | "intake-unchecked";

/** A message of the command queue, or of that of intake, by what it shows of itself, whatever anybody may do. */
export type DeadLetterContent =
  | { readonly kind: "resume"; readonly command: string }
  | {
      readonly kind: "request";
      readonly origin: Origin;
      readonly source: Omit<RequestContext, "access">;
      /** Absent: its sender cannot be told of a rejection. */
      readonly commandId: string | undefined;
      readonly detail: Readonly<Record<string, unknown>>;
    }
  /** An event that a reaction turns into a command. */
  | {
      readonly kind: "reaction";
      readonly reaction: string;
      readonly source: Omit<RequestContext, "access">;
      readonly commandId: string;
      /** Whether that is its command's id for certain: a rule with `key` gives another than others. */
      readonly isIdKnown: boolean;
    }
  /** Nothing that intake makes anything of. */
  | { readonly kind: "ignored"; readonly why: string }
  /** Says that intake has sealed it, and our key has not. */
  | { readonly kind: "forged"; readonly sender: string }
  | { readonly kind: "unreadable"; readonly why: string };

export interface DeadLetterContext {
  /** The AWS account that everything on the direct queue is taken to come from. */
  readonly ownSender: string;
  /** What intake seals with; undefined: not known here, so that no seal can be checked. */
  readonly fingerprintKey: string | undefined;
  /** Those in effect; undefined: not known here. */
  readonly reactions: IntakeDeps["reactions"] | undefined;
}

/** Rights play no part in whose a request is. */
const NOBODY = { accountsOf: () => [], mayRun: () => false, maySee: () => false };

const requestOf = (
  detail: unknown,
  origin: Origin,
  source: Omit<RequestContext, "access">,
): DeadLetterContent => {
  if (detail === undefined) return { kind: "unreadable", why: "not JSON" };
  const fields = z.record(z.string(), z.unknown()).safeParse(detail).data;
  if (!fields) return { kind: "unreadable", why: "JSON, and no object" };
  const { commandId } = identityOf(detail, { ...source, access: NOBODY });
  return { kind: "request", origin, source, commandId, detail: fields };
};

const sealedLetter = (
  sealed: SealedRequest,
  json: unknown,
  key: string | undefined,
): DeadLetterContent => {
  if (key !== undefined && !openSealed(json, key)) return { kind: "forged", sender: sealed.sender };
  const { sender, eventId, sentAt, detail } = sealed;
  const origin = key === undefined ? "intake-unchecked" : "intake";
  return requestOf(parseJson(detail), origin, { sender, eventId, sentAt });
};

/** Reads a message body as intake does. */
const eventLetter = (
  body: string,
  reactions: DeadLetterContext["reactions"] = [],
): DeadLetterContent => {
  const call = readCall(parseJson(body));
  if (!call) return { kind: "ignored", why: "not an event that a rule sends" };
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
      return requestOf(event.detail, "event", source);
    case "TaskFollowRequested":
      return requestOf(
        readTaskFollow(event.detail, { ...source, access: NOBODY }).detail,
        "event",
        source,
      );
    default:
      return { kind: "ignored", why: `an event that asks for nothing: ${event["detail-type"]}` };
  }
};

/** Reads a message body as the function that failed at it does. Pure. */
export const readDeadLetter = (
  { queue, body }: Pick<DeadLetter, "queue" | "body">,
  { ownSender, fingerprintKey, reactions }: DeadLetterContext,
): DeadLetterContent => {
  if (queue === "requests") return eventLetter(body, reactions);
  const json = parseJson(body);
  const resume = resumeSchema.safeParse(json);
  if (resume.success) return { kind: "resume", command: resume.data.resume.command };
  const sealed = claimedSealed(json);
  return sealed
    ? sealedLetter(sealed, json, fingerprintKey)
    : requestOf(json, "direct", { sender: ownSender });
};
