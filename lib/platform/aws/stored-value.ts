import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { JsonObject } from "../ports/ledger.ts";

/**
 * Length up to which a value stays text. The other attributes of an item take up to 400 bytes, so that both fit the
 * kilobyte of a write unit. A longer value is compressed to about half, which costs 50 µs of CPU time and saves up to a
 * unit in each of two writes, because a write costs the size of the item before and after it.
 */
const MAX_TEXT_BYTES = 600;

/** Bytes of a binary attribute, as the JSON of DynamoDB's protocol has them. */
class Base64Bytes extends Uint8Array {
  toJSON(): string {
    return Buffer.from(this).toString("base64");
  }
}

/** The attribute of an item's value. */
type StoredValue = { readonly S: string } | { readonly B: Uint8Array };

/**
 * Returns the attribute of a value: one JSON text, or that text compressed (raw DEFLATE). A text instead of a map keeps
 * every JSON value exactly, at any depth and with numbers of any size. No query reads inside it.
 */
export const toStoredValue = (value: JsonObject): StoredValue => {
  const text = JSON.stringify(value);
  const size = Buffer.byteLength(text);
  if (size <= MAX_TEXT_BYTES) return { S: text };
  const bytes = deflateRawSync(text);
  return bytes.length < size ? { B: new Base64Bytes(bytes) } : { S: text };
};

/** Bytes of the attribute, as DynamoDB counts them. */
export const storedBytes = (value: JsonObject): number => {
  const stored = toStoredValue(value);
  return "S" in stored ? Buffer.byteLength(stored.S) : stored.B.length;
};

/**
 * Reverses `toStoredValue`. Takes an attribute as a reply has it, with bytes in base64.
 * @throws Error when it is neither JSON text nor that text compressed; its message may quote the value
 */
export const fromStoredValue = ({
  S: text,
  B: bytes,
}: {
  readonly S?: string | undefined;
  readonly B?: unknown;
}): JsonObject =>
  JSON.parse(text ?? inflateRawSync(Buffer.from(String(bytes), "base64")).toString());
