import { pauseRequests, type RateLimit } from "../../../lib/provider/rate-limit.ts";
import { grantPermits } from "../../../lib/provider/rate-limiter.ts";

export const START = Date.UTC(2026, 0, 1);
export const PER_WINDOW = 20;

export const ask = (
  rateLimit: RateLimit,
  atMs: number,
  wanted: number,
  { hasNewKey = false, atLeast = 1, expiredProbe = undefined as number | undefined } = {},
) =>
  grantPermits(rateLimit, {
    now: START + atMs,
    wanted,
    atLeast,
    perWindow: PER_WINDOW,
    hasNewKey,
    expiredProbe,
  });

/** Pauses the account from `START` on. */
export const block = (rateLimit: RateLimit, untilMs: number) =>
  pauseRequests(rateLimit, { now: START, until: START + untilMs });
