import type { Operation, Reply } from "../contract/operation.ts";
import type { EventBus } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { ApiKeyCache } from "./api-key.ts";
import {
  type Client,
  type ClientOptions,
  createClient,
  notSent,
  type OperationRequest,
  readApiKey,
  unlessAborted,
} from "./client.ts";
import { callError, ProviderError } from "./provider-error.ts";
import {
  acceptKey,
  newRateLimit,
  pauseRequests,
  type RateLimit,
  rateLimits,
  refuseKey,
  type Wait,
} from "./rate-limit.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/** Longest time that a call waits for a permit. */
const MAX_PERMIT_WAIT_MS = 5_000;
/** Pause after a 429 without `Retry-After`. */
const DEFAULT_PAUSE_MS = 1_000;
/** One send with the first key, one with a key that another call has read since, and one with a newer key. */
const MAX_SENDS = 3;

export interface AccountClientPorts {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Writes the account state that responses reveal (a pause, a refused key) to the ledger. Never rejects. */
const createAccountStateUpdates = (ports: AccountClientPorts, account: string) => {
  const { ledger, clock, log } = ports;

  /** Never throws, because an unreachable ledger must not fail a call that has its response. */
  const update = async (next: (rateLimit: RateLimit) => RateLimit): Promise<boolean> => {
    try {
      const { value } = await rateLimits.change(ledger, account, (current) =>
        next(current ?? newRateLimit(account)),
      );
      if (value.outbox.length > 0) await rateLimits.publishOrLeave(ports, account);
      return true;
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error);
      const text = "account state not updated; the next response will retry it";
      log.warn(text, { account, errorMessage });
      return false;
    }
  };

  return {
    /** @returns whether the ledger holds the pause, so that every process obeys it */
    async pauseUntil(until: number): Promise<boolean> {
      let isReported = false;
      const isUpdated = await update((rateLimit) => {
        const next = pauseRequests(rateLimit, { now: clock.now(), until });
        isReported = next.outbox.at(-1) !== rateLimit.outbox.at(-1);
        return next;
      });
      if (isUpdated && isReported) {
        const fields = { account, until: new Date(until).toISOString() };
        log.warn(
          "provider asked for a long pause; the account sends nothing until its end",
          fields,
        );
      }
      return isUpdated;
    },
    /** @param sentAt time at which the refused request left, epoch ms */
    async keyRefused(sentAt: number): Promise<void> {
      await update((rateLimit) => refuseKey(rateLimit, { now: clock.now(), sentAt }));
    },
    async keyAccepted(sentAt: number): Promise<void> {
      await update((rateLimit) => acceptKey(rateLimit, { now: clock.now(), sentAt }));
    },
  };
};

const WAIT_REASONS: Readonly<Record<Wait["because"], string>> = {
  "budget-spent": "the account's rate limit is exhausted",
  "key-refused": "the provider refuses the API key",
  paused: "the provider asked for a pause",
};

const isCode = (error: unknown, code: ProviderError["code"]): error is ProviderError =>
  error instanceof ProviderError && error.code === code;

/**
 * Statuses that do not show whether the key is valid: a gateway may answer before it checks the key, and
 * many gateways answer 403 to a revoked key.
 */
const INCONCLUSIVE_STATUSES = new Set([401, 403, 408, 429]);

const showsThatKeyIsAccepted = (error: unknown): boolean => {
  if (!(error instanceof ProviderError)) return false;
  const { status, code } = error;
  if (status === undefined) return code === "reply-unreadable" || code === "reply-unexpected";
  return status >= 400 && status < 500 && !INCONCLUSIVE_STATUSES.has(status);
};

interface Attempt {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly sentAt: number;
  /** Number of sends of this request, including this one. */
  readonly sends: number;
}

interface AccountClientOptions {
  readonly account: string;
  readonly provider: Omit<ClientOptions, "apiKey">;
  readonly apiKeys: ApiKeyCache;
  readonly rateLimiter: RateLimiter;
}

/**
 * Client of an account. Each request acquires a permit of the account's rate limit. If the provider
 * refuses a key that has been replaced, the request is sent again with the new key. A response that
 * concerns the account (a pause, a refused key) is written to the ledger for all processes.
 *
 * Throws, in addition to the errors of every client and only if nothing was sent: ProviderError
 * `budget-spent`, `paused` or `key-refused`, throttled and with `retryAfterMs`; or `budget-unavailable`,
 * transient.
 */
export const createAccountClient = (
  ports: AccountClientPorts,
  { account, provider, apiKeys, rateLimiter }: AccountClientOptions,
): Client => {
  const { clock, metrics } = ports;
  const updates = createAccountStateUpdates(ports, account);

  /** @throws ProviderError when no permit is granted in time; nothing was sent */
  const acquirePermit = async (
    operation: Operation,
    signal: AbortSignal,
    hasNewKey: boolean,
  ): Promise<void> => {
    const request = { maxWaitMs: MAX_PERMIT_WAIT_MS, signal, hasNewKey };
    const permit = await rateLimiter.acquire(request).catch((cause: unknown) => {
      const text = "not sent: the ledger failed while acquiring a permit of the rate limit";
      throw callError(operation, "transient", "budget-unavailable", text, { cause });
    });
    if (permit.kind === "aborted") throw notSent(operation);
    if (permit.kind === "ready") return;
    const text = `not sent: ${WAIT_REASONS[permit.because]}`;
    const retryAfterMs = Math.max(1, permit.until - clock.now());
    throw callError(operation, "throttled", permit.because, text, { retryAfterMs });
  };

  /** Updates the state of the account after an error. Refused keys are handled in `keyAfter`. */
  const updateAccount = async (error: unknown, sentAt: number): Promise<void> => {
    if (isCode(error, "throttled")) {
      const until = clock.now() + (error.retryAfterMs ?? DEFAULT_PAUSE_MS);
      rateLimiter.pause(until);
      if (await updates.pauseUntil(until)) rateLimiter.leavePause(until);
    }
    if (rateLimiter.isKeyRefused() && showsThatKeyIsAccepted(error)) {
      await updates.keyAccepted(sentAt);
    }
  };

  const send = async <O extends Operation>(
    operation: O,
    request: OperationRequest<O>,
    { key, signal, sentAt }: Attempt,
  ): Promise<Reply<O>> => {
    const client = createClient({ ...provider, apiKey: async () => key });
    const reply = await client.call(operation, request, signal).catch(async (error: unknown) => {
      await updateAccount(error, sentAt);
      throw error;
    });
    if (rateLimiter.isKeyRefused()) await updates.keyAccepted(sentAt);
    return reply;
  };

  /**
   * Returns the key for the next send of a request after its key was refused. That is safe also for a
   * mutation: a request with a refused key has no effect.
   * @throws the given error when the request must not be sent again
   */
  const keyAfter = async (operation: Operation, error: unknown, attempt: Attempt) => {
    const { key, signal, sentAt, sends } = attempt;
    if (!isCode(error, "key-refused")) throw error;
    const isLast = sends >= MAX_SENDS;
    const after = isLast ? undefined : unlessAborted(apiKeys.after(key), signal);
    const next = await after?.catch(() => undefined);
    if (next === undefined) {
      metrics.count("AccountKeyRefused", { account });
      rateLimiter.discard();
      await updates.keyRefused(sentAt);
      throw error;
    }
    // The request was sent once, so the error stays "refused", not "not sent", if no permit is granted.
    await acquirePermit(operation, signal, true).catch(() => {
      throw error;
    });
    return next;
  };

  return {
    async call(operation, request, signal = new AbortController().signal) {
      // The key is read first: a permit would expire meanwhile.
      let key = await readApiKey(operation, apiKeys.current, signal);
      await acquirePermit(operation, signal, false);
      for (let sends = 1; ; sends += 1) {
        const attempt = { key, signal, sentAt: clock.now(), sends };
        try {
          return await send(operation, request, attempt);
        } catch (error) {
          key = await keyAfter(operation, error, attempt);
        }
      }
    },
  };
};
