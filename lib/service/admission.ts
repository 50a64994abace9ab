import { timingSafeEqual } from "node:crypto";
import { RefusedError } from "./errors.ts";
import { hashApiKey, type KeyRecord } from "./state/keys.ts";

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

const WINDOW_MS = 1000;

interface Window {
  readonly startsAt: number;
  requests: number;
}

/** Admits a request of a key at an instant (epoch ms), or refuses it. */
export type RateLimit = (keyId: string, at: number) => void;

/**
 * So many requests a second for each key, counted in windows that begin with a key's first request.
 * A refused request does not count, so waiting for the next window is always enough.
 * @throws RefusedError 429 (from the returned function)
 */
export const createRateLimit = (requestsPerSecond: number): RateLimit => {
  const windows = new Map<string, Window>();
  return (keyId, at) => {
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

/** No window is longer, so this is what `Retry-After` says, in its unit of whole seconds. */
export const RETRY_AFTER_SECONDS = WINDOW_MS / 1000;
