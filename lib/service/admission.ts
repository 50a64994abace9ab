import { RefusedError } from "./errors.ts";
import { hashApiKey, type KeyRecord } from "./state/keys.ts";

/** Finds the record of an API key by its plain text; undefined when the key is unknown or revoked. */
export type FindKey = (apiKey: string) => KeyRecord | undefined;

/** Number of valid keys that a process remembers in plain text. Clients repeat theirs, and a digest costs 2 % of a read. */
const MAX_RECENT = 16;

/**
 * Finds keys by the digest of the presented key, which is the only form that the service stores. The time of a search
 * depends on digests, or on the hashes of a map, which reveal nothing about a key, so it needs no comparison in constant
 * time.
 */
export const createKeyring = (keys: readonly KeyRecord[]): FindKey => {
  const valid = new Map<string, KeyRecord>();
  for (const key of keys) {
    // The first of several valid records with one digest counts.
    if (!key.revoked && !valid.has(key.sha256)) valid.set(key.sha256, key);
  }
  const recent = new Map<string, KeyRecord>();
  return (apiKey) => {
    const known = recent.get(apiKey);
    if (known) return known;
    const found = valid.get(hashApiKey(apiKey));
    if (!found) return undefined;
    if (recent.size === MAX_RECENT) recent.clear();
    recent.set(apiKey, found);
    return found;
  };
};

/**
 * Finds the key of a request by its `Authorization` header: `apikey <KEY>`. The scheme may have any letter
 * case, because the provider's own clients spell it differently.
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
 * Creates a rate limit per key, in windows of one second that begin with a request of the key. A refused
 * request does not count, so a request in the next window always passes.
 * @throws RefusedError 429 (from the returned function; `at` in epoch ms)
 */
export const createRateLimit = (requestsPerSecond: number) => {
  const windows = new Map<string, Window>();
  return (keyId: string, at: number): void => {
    const current = windows.get(keyId);
    // Without the lower bound, a clock that was set back would keep the window open.
    const isOpen =
      current !== undefined && at >= current.startsAt && at < current.startsAt + WINDOW_MS;
    const window = isOpen ? current : { startsAt: at, requests: 0 };
    if (window.requests >= requestsPerSecond) {
      throw new RefusedError(
        "too-many-requests",
        `rate limit: ${requestsPerSecond} requests per second`,
      );
    }
    window.requests += 1;
    windows.set(keyId, window);
  };
};

/** Value of `Retry-After`: the length of a window, the longest possible wait. */
export const RETRY_AFTER_SECONDS = WINDOW_MS / 1000;
