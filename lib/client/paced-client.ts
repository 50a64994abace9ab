import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import { backoffMs } from "./backoff.ts";
import { type Client, notSent } from "./client.ts";
import { ProviderError } from "./provider-error.ts";

/** A provider that has failed so often in a row is in trouble; the next run tries again. */
const MAX_ATTEMPTS = 5;

interface PacedAccount {
  readonly client: Client;
  /** The account's request budget. */
  readonly requestsPerSecond: number;
}

export interface PaceOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Epoch ms; no attempt starts from then on. */
  readonly endsAt: number;
  readonly signal: AbortSignal;
}

/** Whether the call has certainly had no effect and the same may pass later. */
const mayPassLater = (error: unknown): error is ProviderError =>
  error instanceof ProviderError &&
  (error.disposition === "transient" || error.disposition === "throttled");

/**
 * A client for jobs that make many calls in one run: it keeps the account's request budget however
 * many calls are asked for at once, holds all of them back when the provider asks for a pause, and
 * repeats what may pass later. A call whose outcome is unknown is not repeated.
 *
 * Each call rejects with the last ProviderError when the attempts or the time are over.
 */
export const createPacedClient = (account: PacedAccount, options: PaceOptions): Client => {
  const { clock, random, signal } = options;
  const intervalMs = 1000 / account.requestsPerSecond;
  /** When the next request may leave, epoch ms. */
  let nextAt = clock.now();

  /** @returns false when there is none within the time */
  const awaitTurn = async (): Promise<boolean> => {
    for (;;) {
      const at = Math.max(nextAt, clock.now());
      if (signal.aborted || at >= options.endsAt) return false;
      if (at <= clock.now()) {
        nextAt = at + intervalMs;
        return true;
      }
      await clock.sleep(Math.ceil(at - clock.now()), signal);
    }
  };

  /** @throws the error itself when the same is not to be sent again */
  const pauseAfter = async (error: unknown, attempt: number): Promise<void> => {
    if (!mayPassLater(error) || attempt >= MAX_ATTEMPTS || signal.aborted) throw error;
    const pause = Math.max(error.retryAfterMs ?? 0, backoffMs(attempt, random));
    const resumeAt = clock.now() + pause;
    // The pause that the provider asks for is for all.
    if (error.disposition === "throttled") nextAt = Math.max(nextAt, resumeAt);
    if (resumeAt >= options.endsAt) throw error;
    await clock.sleep(pause, signal);
  };

  return {
    async call(operation, request) {
      for (let attempt = 1; ; attempt += 1) {
        if (!(await awaitTurn())) throw notSent(operation);
        try {
          return await account.client.call(operation, request, signal);
        } catch (error) {
          await pauseAfter(error, attempt);
        }
      }
    },
  };
};
