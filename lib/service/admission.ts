import { timingSafeEqual } from "node:crypto";
import { RefusedError } from "./errors.ts";
import { hashApiKey, type KeyRecord } from "./state/keys.ts";

/** Finds the record of a key, given in plain text; undefined when it is unknown or revoked. */
export type FindKey = (apiKey: string) => KeyRecord | undefined;

/** Compares every key in constant time, so the time taken reveals nothing about the stored keys. */
export const createKeyring = (keys: readonly KeyRecord[]): FindKey => {
  const stored = keys.map((key) => ({ key, sha256: Buffer.from(key.sha256, "hex") }));
  return (apiKey) => {
    const given = Buffer.from(hashApiKey(apiKey), "hex");
    const matching = stored.filter(({ sha256 }) => timingSafeEqual(sha256, given));
    return matching.find(({ key }) => !key.revoked)?.key;
  };
};

/**
 * Finds the caller by the value of the `Authorization` header: `apikey <KEY>`, the scheme in any case,
 * because the provider's own clients spell it differently.
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

const WINDOW_MS = 1000;

interface Window {
  readonly startsAt: number;
  requests: number;
}

/**
 * Limits the requests of each key a second, in windows that begin with a key's first request. A
 * refused request does not count, so waiting for the next window is always enough.
 * @throws RefusedError 429 (from the returned function; `at` in epoch ms)
 */
export const createRateLimit = (requestsPerSecond: number) => {
  const windows = new Map<string, Window>();
  return (keyId: string, at: number): void => {
    const current = windows.get(keyId);
    // A clock that was set back must not keep a window open.
    const isOpen =
      current !== undefined && at >= current.startsAt && at < current.startsAt + WINDOW_MS;
    const window = isOpen ? current : { startsAt: at, requests: 0 };
    if (window.requests >= requestsPerSecond) {
      throw new RefusedError("too-many-requests", `rate limit: ${requestsPerSecond} a second`);
    }
    window.requests += 1;
    windows.set(keyId, window);
  };
};

/** The value of `Retry-After`: no window is longer. */
export const RETRY_AFTER_SECONDS = WINDOW_MS / 1000;
