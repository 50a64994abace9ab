import { createHash, timingSafeEqual } from "node:crypto";
import { RefusedError } from "./errors.ts";
import type { KeyRecord } from "./state/state.ts";

const digest = (apiKey: string): Buffer => createHash("sha256").update(apiKey, "utf8").digest();

/** The only form in which the service keeps a key: SHA-256 in lower-case hex. */
export const hashApiKey = (apiKey: string): string => digest(apiKey).toString("hex");

/** Looks at every key, each in constant time, so the time taken tells nothing about the keys kept. */
const findKey = (keys: readonly KeyRecord[], apiKey: string): KeyRecord | undefined => {
  const given = digest(apiKey);
  const matching = keys.filter((key) => timingSafeEqual(Buffer.from(key.sha256, "hex"), given));
  return matching.find((key) => !key.revoked);
};

/**
 * Whose request this is, from `Authorization: apikey <KEY>`; the scheme in any case, as the provider's
 * own clients spell it differently.
 * @throws RefusedError 401: `not_authenticated` without such a header, `token_not_valid` when the key
 * is unknown or revoked
 */
export const authenticate = (header: string | null, keys: readonly KeyRecord[]): KeyRecord => {
  const apiKey = /^apikey (\S+)$/i.exec(header ?? "")?.[1];
  if (apiKey === undefined) {
    throw new RefusedError("not-authenticated", "authorization: must be 'apikey <API_KEY>'");
  }
  const key = findKey(keys, apiKey);
  if (key === undefined) {
    throw new RefusedError("token-not-valid", "authorization: the key is unknown or revoked");
  }
  return key;
};
