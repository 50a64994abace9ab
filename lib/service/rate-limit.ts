import { RefusedError } from "./errors.ts";

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
