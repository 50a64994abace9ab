import { hash, timingSafeEqual } from "node:crypto";
import { RefusedError } from "./errors.ts";
import type { KeyRecord } from "./state/state.ts";

/** The only form in which the service keeps a key: SHA-256 in lower-case hex. */
export const hashApiKey = (apiKey: string): string => hash("sha256", apiKey, "hex");

/** Node is three times as fast to give it as hex than as a buffer. */
const digest = (apiKey: string): Buffer => Buffer.from(hashApiKey(apiKey), "hex");

/** Finds the record of a key, given in plain text; undefined when it is unknown or revoked. */
export type FindKey = (apiKey: string) => KeyRecord | undefined;

/** Every key is compared, each in constant time, so the time taken tells nothing about the keys kept. */
export const createKeyring = (keys: readonly KeyRecord[]): FindKey => {
  const kept = keys.map((key) => ({ key, sha256: Buffer.from(key.sha256, "hex") }));
  return (apiKey) => {
    const given = digest(apiKey);
    const matching = kept.filter(({ sha256 }) => timingSafeEqual(sha256, given));
    return matching.find(({ key }) => !key.revoked)?.key;
  };
};

/**
 * Tells whose request it is from the value of its `Authorization` header: `apikey <KEY>`, the scheme
 * in any case, as the provider's own clients spell it differently.
 * @throws RefusedError 401: `not_authenticated` without such a header, `token_not_valid` when the key
 * is unknown or revoked
 */
export const authenticate = (header: string | null, findKey: FindKey): KeyRecord => {
  const apiKey = /^apikey (\S+)$/i.exec(header ?? "")?.[1];
  if (apiKey === undefined) {
    throw new RefusedError("not-authenticated", "authorization: must be 'apikey <API_KEY>'");
  }
  const key = findKey(apiKey);
  if (key === undefined) {
    throw new RefusedError("token-not-valid", "authorization: the key is unknown or revoked");
  }
  return key;
};
