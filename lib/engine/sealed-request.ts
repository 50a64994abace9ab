import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import { messageText } from "./message-text.ts";

const requestSchema = z.strictObject({
  /** The AWS account that EventBridge stamped on the event. */
  sender: z.string(),
  /** Of the event. */
  eventId: z.string(),
  /** When the event was put on the bus, epoch ms. */
  sentAt: z.int().optional(),
  /** JSON text of the detail of a `CommandRequested`. */
  detail: z.string(),
});

/**
 * How intake hands a request on. Whoever may send to the command queue could write any sender into a
 * message: the seal shows that it was intake, which has it from EventBridge.
 */
const sealedSchema = z.strictObject({ sealed: requestSchema, seal: z.string() });

export type SealedRequest = z.output<typeof requestSchema>;

/** Of a text that no fingerprint is made of: those are of JSON objects. */
const sealOf = ({ sender, eventId, sentAt, detail }: SealedRequest, key: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["sealed-request", sender, eventId, sentAt ?? null, detail]))
    .digest();

/** The body of the queue's message. @param key a secret of ours */
export const sealRequest = (sealed: SealedRequest, key: string): string =>
  messageText(JSON.stringify({ sealed, seal: sealOf(sealed, key).toString("hex") }));

/** What says of itself that it is sealed; whether it is, is not looked at. */
export const claimedSealed = (json: unknown): SealedRequest | undefined =>
  sealedSchema.safeParse(json).data?.sealed;

/** What is sealed, or undefined for everything that this key has not sealed. */
export const openSealed = (json: unknown, key: string): SealedRequest | undefined => {
  const read = sealedSchema.safeParse(json).data;
  if (!read) return undefined;
  const given = Buffer.from(read.seal, "hex");
  const wanted = sealOf(read.sealed, key);
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? read.sealed : undefined;
};
