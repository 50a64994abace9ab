import type { Operation } from "../contract/operation.ts";
import { ProviderError } from "./provider-error.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Both known forms, `1234$abcdef` and `1234_abcdef`, and any other that a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * The key in a text; a line end after it, as secret files have, is not part of it.
 * @returns undefined when no header can carry it
 */
export const sendableKey = (text: string): string | undefined => {
  const key = text.trim();
  return SENDABLE.test(key) ? key : undefined;
};

const unavailable = (operation: Operation, rule: string, cause?: unknown): ProviderError =>
  new ProviderError({
    disposition: "transient",
    code: "key-unavailable",
    message: `${operation.id}: not sent, ${rule}`,
    cause,
  });

/**
 * Reads the API key for one request.
 * @throws ProviderError `key-unavailable`, transient because nothing was sent
 */
export const readApiKey = async (
  operation: Operation,
  apiKey: () => Promise<string>,
  signal: AbortSignal,
): Promise<string> => {
  const text = await unlessAborted(apiKey(), signal).catch((error: unknown) => {
    throw signal.aborted
      ? unavailable(operation, "the API key was not there in time")
      : unavailable(operation, "the API key cannot be read", error);
  });
  const key = sendableKey(text);
  // Checked here, because fetch's own error quotes the header, key included.
  if (key === undefined) throw unavailable(operation, "no header can carry the API key");
  return key;
};
