import type { Context } from "hono";
import { readText } from "../provider/client.ts";

const MAX_BODY_BYTES = 256 * 1024;

export const refuse = (
  context: Context,
  status: 400 | 403 | 404 | 413 | 415 | 500,
  error: string,
): Response => context.json({ error }, status);

/**
 * The body of a request that changes something. A page in a browser can send a form to this address,
 * but not this content type.
 * @returns the refusal when it is none
 */
export const readBody = async (context: Context): Promise<string | Response> => {
  if (!context.req.header("content-type")?.startsWith("application/json")) {
    return refuse(context, 415, "content-type must be application/json");
  }
  const tooLarge = () => refuse(context, 413, "at most 256 KiB");
  // Not a byte is read, so that its sender is there for the answer.
  if (Number(context.req.header("content-length")) > MAX_BODY_BYTES) return tooLarge();
  const { text, isWhole } = await readText(context.req.raw, MAX_BODY_BYTES);
  if (!isWhole) return tooLarge();
  return text === "" ? refuse(context, 400, "not a request") : text;
};
