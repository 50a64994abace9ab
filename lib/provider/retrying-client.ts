import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { type Client, notSent } from "./client.ts";
import { ProviderError } from "./provider-error.ts";

const FIRST_MS = 1_000;
const CAP_MS = 60_000;

const withJitter = (pauseMs: number, random: Random): number =>
  Math.round(pauseMs * (1 - random.fraction() / 2));

/** Exponential back-off, ms: doubles from 1 s to 60 s. Jitter takes off up to half, to spread retries. */
export const backoffMs = (attempt: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, FIRST_MS * 2 ** (attempt - 1)), random);

/** Pause of a wait without attempts to count, ms: a tenth of the time waited, 1 s to 60 s, with jitter. */
export const pauseAfterWaitMs = (waitedMs: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, Math.max(FIRST_MS, waitedMs / 10)), random);

/** Maximum attempts of one call in a run. After that the provider is in trouble, and the next run retries. */
const MAX_ATTEMPTS = 5;

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Time from which no attempt starts, epoch ms. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Whether the call had no effect for certain, and may succeed later in this run. */
const isRetryable = (error: unknown): error is ProviderError =>
  error instanceof ProviderError &&
  (error.disposition === "transient" || error.disposition === "throttled") &&
  // The caller aborted the call, and with it the retries.
  error.code !== "aborted";

/** Whether the call counts as an attempt: without a permit no request left. */
const isAttempt = (error: unknown): boolean =>
  !(error instanceof ProviderError && (error.code === "budget-spent" || error.code === "paused"));

/**
 * Creates a client for jobs with many calls in one run. A 429 pauses all of them. Calls that failed
 * without effect are retried; calls with an unknown outcome are not. Each call rejects with the last
 * ProviderError when its attempts or the time are over.
 */
export const createRetryingClient = (client: Client, options: RetryOptions): Client => {
  const { clock, random, signal } = options;
  /** Time at which the next request may leave, epoch ms. */
  let nextAt = clock.now();

  /** @returns false when there is no time left */
  const awaitPause = async (): Promise<boolean> => {
    for (;;) {
      const now = clock.now();
      if (signal.aborted || Math.max(nextAt, now) >= options.endsAt) return false;
      if (nextAt <= now) return true;
      await clock.sleep(Math.ceil(nextAt - now), signal);
    }
  };

  /** @throws the given error when the call is not retried */
  const pauseAfter = async (error: unknown, attempt: number): Promise<void> => {
    if (!isRetryable(error) || attempt >= MAX_ATTEMPTS || signal.aborted) throw error;
    const pause = Math.max(error.retryAfterMs ?? 0, backoffMs(Math.max(1, attempt), random));
    const resumeAt = clock.now() + pause;
    // The pause applies to all calls.
    if (error.disposition === "throttled") nextAt = Math.max(nextAt, resumeAt);
    if (resumeAt >= options.endsAt) throw error;
    await clock.sleep(pause, signal);
  };

  return {
    async call(operation, request) {
      for (let attempts = 0; ; ) {
        if (!(await awaitPause())) throw notSent(operation);
        try {
          return await client.call(operation, request, signal);
        } catch (error) {
          if (isAttempt(error)) attempts += 1;
          await pauseAfter(error, attempts);
        }
      }
    },
  };
};

/** Creates a client with its own rate limit, for a process that shares none. Calls leave at even intervals. */
export const createRateLimitedClient = (
  client: Client,
  { clock, requestsPerSecond }: { readonly clock: Clock; readonly requestsPerSecond: number },
): Client => {
  const intervalMs = 1000 / requestsPerSecond;
  /** Time at which the next request may leave, epoch ms. */
  let nextAt = clock.now();
  return {
    async call(operation, request, signal) {
      const at = Math.max(nextAt, clock.now());
      nextAt = at + intervalMs;
      while (clock.now() < at && !signal?.aborted) {
        await clock.sleep(Math.ceil(at - clock.now()), signal);
      }
      if (signal?.aborted) throw notSent(operation);
      return client.call(operation, request, signal);
    },
  };
};
