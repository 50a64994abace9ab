import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { parseJson } from "../contract/json.ts";
import type { CommandMessage } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { CommandDeps } from "./deps.ts";
import { groupIdOf } from "./lane.ts";
import { readRequest } from "./read-request.ts";
import type { CommandRequest, Rejection } from "./request.ts";

/**
 * Our own message, which resumes a command of the ledger. It carries no request, so secrets stay in the
 * ledger.
 */
export const resumeSchema = z.strictObject({
  resume: z.strictObject({ command: z.string(), lane: z.string() }),
});

const escaped = (json: string, refused: RegExp): string =>
  json.replace(refused, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Characters that JSON strings may hold and SQS refuses in a body. */
const NOT_IN_A_BODY = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Escapes the characters of a JSON text that the queue refuses. */
export const messageText = (json: string): string => escaped(json, NOT_IN_A_BODY);

export const resumeMessage = (command: string, lane: string, random: Random): CommandMessage => ({
  body: escaped(JSON.stringify({ resume: { command, lane } }), /[^ -~]/g),
  groupId: groupIdOf(lane),
  // Always a new id: a FIFO queue drops an id that it saw in the last 5 minutes.
  deduplicationId: random.uuid(),
});

const requestSchema = z.strictObject({
  /** The AWS account that EventBridge stamped on the event. */
  sender: z.string(),
  /** Id of the event. */
  eventId: z.string(),
  /** When the event was put on the bus, epoch ms. */
  sentAt: z.int().optional(),
  /** JSON text of the detail of a `CommandRequested`. */
  detail: z.string(),
});

/**
 * The message in which intake passes a request on. Every writer of the command queue could name any
 * sender, so a seal proves that intake wrote the message, with the sender from EventBridge.
 */
const sealedSchema = z.strictObject({ sealed: requestSchema, seal: z.string() });

export type SealedRequest = z.output<typeof requestSchema>;

/**
 * Seals a JSON list that begins with a constant text. No fingerprint hashes such a list, so none is a
 * valid seal.
 */
const sealOf = ({ sender, eventId, sentAt, detail }: SealedRequest, key: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["sealed-request", sender, eventId, sentAt ?? null, detail]))
    .digest();

/** The body of the queue's message. @param key the fingerprint key */
export const sealRequest = (sealed: SealedRequest, key: string): string =>
  messageText(JSON.stringify({ sealed, seal: sealOf(sealed, key).toString("hex") }));

/** A request that claims to be sealed; the seal is not verified. */
export const claimedSealed = (json: unknown): SealedRequest | undefined =>
  sealedSchema.safeParse(json).data?.sealed;

/** A request with a valid seal, or undefined for everything that this key has not sealed. */
export const openSealed = (json: unknown, key: string): SealedRequest | undefined => {
  const read = sealedSchema.safeParse(json).data;
  if (!read) return undefined;
  const given = Buffer.from(read.seal, "hex");
  const wanted = sealOf(read.sealed, key);
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? read.sealed : undefined;
};

/** A message of the command queue, read without ledger and provider. */
export type Message =
  | { readonly kind: "request"; readonly request: CommandRequest; readonly lane: string }
  | { readonly kind: "resume"; readonly command: string; readonly lane: string }
  | { readonly kind: "rejected"; readonly rejection: Rejection; readonly lane?: never };

/** Reads a message body. Pure. A request without a valid seal is one of our own AWS account. */
export const readMessage = (
  body: string,
  deps: Pick<CommandDeps, "access" | "ownSender" | "fingerprintKey">,
): Message => {
  const json = parseJson(body);
  const resume = resumeSchema.safeParse(json);
  if (resume.success) return { kind: "resume", ...resume.data.resume };
  const sealed = openSealed(json, deps.fingerprintKey);
  const { access, ownSender } = deps;
  const read = sealed
    ? readRequest(parseJson(sealed.detail), { ...sealed, access })
    : readRequest(json, { sender: ownSender, access });
  return read.kind === "valid"
    ? { kind: "request", request: read.request, lane: read.request.lane }
    : { kind: "rejected", rejection: read.rejection };
};
