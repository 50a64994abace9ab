import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { type Client, notSent } from "./client.ts";
import { ProviderError } from "./provider-error.ts";

const FIRST_MS = 1_000;
const CAP_MS = 60_000;

const withJitter = (pauseMs: number, random: Random): number =>
  Math.round(pauseMs * (1 - random.fraction() / 2));

/** Doubles from 1 s to 60 s; jitter takes off up to half, so that many retries do not coincide. */
export const backoffMs = (attempt: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, FIRST_MS * 2 ** (attempt - 1)), random);

/** For waits without attempts to count: a tenth of the time waited, 1 s to 60 s, with jitter. */
export const pauseAfterWaitMs = (waitedMs: number, random: Random): number =>
  withJitter(Math.min(CAP_MS, Math.max(FIRST_MS, waitedMs / 10)), random);

/** After as many failures of one call the provider is in trouble; the next run tries again. */
const MAX_ATTEMPTS = 5;

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Epoch ms; no attempt starts from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Whether the call certainly had no effect and may succeed later in this run. */
const isRetryable = (error: unknown): error is ProviderError =>
  error instanceof ProviderError &&
  (error.disposition === "transient" || error.disposition === "throttled") &&
  // The caller stopped the call, and with it the retries.
  error.code !== "aborted";

/** Whether the request left; a call that got no permit says nothing about the provider. */
const isAttempt = (error: unknown): boolean =>
  !(error instanceof ProviderError && (error.code === "budget-spent" || error.code === "paused"));

/**
 * A client for jobs that make many calls in one run. A 429 pauses all of them; calls that failed without
 * effect are retried, calls with an unknown outcome are not. Each call rejects with the last
 * ProviderError when the attempts or the time are over.
 */
export const createRetryingClient = (client: Client, options: RetryOptions): Client => {
  const { clock, random, signal } = options;
  /** When the next request may leave, epoch ms. */
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

  /** @throws the error itself when the call is not retried */
  const pauseAfter = async (error: unknown, attempt: number): Promise<void> => {
    if (!isRetryable(error) || attempt >= MAX_ATTEMPTS || signal.aborted) throw error;
    const pause = Math.max(error.retryAfterMs ?? 0, backoffMs(Math.max(1, attempt), random));
    const resumeAt = clock.now() + pause;
    // The provider asks all calls for the pause.
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

/** A client with a rate limit of its own, for a process that shares none: calls leave at even intervals. */
export const createRateLimitedClient = (
  client: Client,
  { clock, requestsPerSecond }: { readonly clock: Clock; readonly requestsPerSecond: number },
): Client => {
  const intervalMs = 1000 / requestsPerSecond;
  /** When the next request may leave, epoch ms. */
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
