import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";

/**
 * How intake hands a request on. Whoever may send to the command queue could write any sender into a
 * message: the seal shows that it was intake, which has it from EventBridge.
 */
const sealedSchema = z.strictObject({
  sealed: z.strictObject({ sender: z.string(), request: z.string(), seal: z.string() }),
});

export interface SealedRequest {
  readonly sender: string;
  /** JSON text of the detail of a `CommandRequested`. */
  readonly request: string;
}

/** A text that no fingerprint is made of: those are of JSON objects. */
const sealOf = ({ sender, request }: SealedRequest, key: string): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["sealed-request", sender, request]))
    .digest();

/** The body of the queue's message. @param key a secret of ours */
export const sealRequest = (sealed: SealedRequest, key: string): string =>
  JSON.stringify({ sealed: { ...sealed, seal: sealOf(sealed, key).toString("hex") } });

/** What is sealed, or undefined for everything that this key has not sealed. */
export const openSealed = (json: unknown, key: string): SealedRequest | undefined => {
  const { sealed } = sealedSchema.safeParse(json).data ?? {};
  if (!sealed) return undefined;
  const given = Buffer.from(sealed.seal, "hex");
  const wanted = sealOf(sealed, key);
  return given.length === wanted.length && timingSafeEqual(given, wanted)
    ? { sender: sealed.sender, request: sealed.request }
    : undefined;
};
