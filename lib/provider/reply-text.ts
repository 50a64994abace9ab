/** A list of a thousand tasks is 1 to 2 MB. Reading JSON without loss takes a second for this much. */
export const MAX_REPLY_BYTES = 10_000_000;
/** Of a refusal only the beginning is ever quoted. */
export const MAX_REFUSAL_BYTES = 400_000;

export interface ReplyText {
  readonly text: string;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

export const NO_TEXT: ReplyText = { text: "", isWhole: false };

/**
 * Reads the text of a reply up to a number of bytes, counted as they are when they are unpacked: a
 * short compressed reply can be a very long one. Whatever comes behind them is not read, and the
 * connection is let go.
 */
export const readText = async (
  { body }: Pick<Response, "body">,
  maxBytes: number,
): Promise<ReplyText> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of body ?? []) {
    chunks.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  return { text, isWhole: bytes <= maxBytes };
};
