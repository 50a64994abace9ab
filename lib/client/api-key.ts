import type { Operation } from "../contract/operation.ts";
import { ProviderError } from "./provider-error.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** Both known forms, `1234$abcdef` and `1234_abcdef`, and any other that a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

const unavailable = (operation: Operation, rule: string, cause?: unknown): ProviderError =>
  new ProviderError({
    disposition: "transient",
    code: "key-unavailable",
    message: `${operation.id}: not sent, ${rule}`,
    cause,
  });

/**
 * Reads the API key for one request; a line end after it, as secret files have, is not part of it.
 * @throws ProviderError `key-unavailable`, transient because nothing was sent
 */
export const readApiKey = async (
  operation: Operation,
  apiKey: () => Promise<string>,
  signal: AbortSignal,
): Promise<string> => {
  const key = await unlessAborted(apiKey(), signal).then(
    (text) => text.trim(),
    (error: unknown) => {
      throw signal.aborted
        ? unavailable(operation, "the API key was not there in time")
        : unavailable(operation, "the API key cannot be read", error);
    },
  );
  // Checked here, because fetch's own error quotes the header, key included.
  if (!SENDABLE.test(key)) throw unavailable(operation, "no header can carry the API key");
  return key;
};
