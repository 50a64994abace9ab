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

/** How long a call waits for a permit. */
const MAX_PERMIT_WAIT_MS = 5_000;
/** For a provider that asks for a pause without saying how long. */
const DEFAULT_PAUSE_MS = 1_000;
/** With the first key, with the one that another call has read since, and with a newer one. */
const MAX_SENDS = 3;

export interface AccountClientPorts {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Writes to the ledger what responses say about the account. Never rejects. */
const createAccountStateUpdates = (ports: AccountClientPorts, account: string) => {
  const { ledger, clock, log } = ports;

  /** An unreachable ledger must not fail a call that has its response. */
  const update = async (next: (rateLimit: RateLimit) => RateLimit): Promise<boolean> => {
    try {
      const { value } = await rateLimits.change(ledger, account, (current) =>
        next(current ?? newRateLimit(account)),
      );
      if (value.outbox.length > 0) await rateLimits.publishOrLeave(ports, account);
      return true;
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error);
      const text = "account state not updated, the next response will retry it";
      log.warn(text, { account, errorMessage });
      return false;
    }
  };

  return {
    /** @returns whether the ledger has the pause, so that every process keeps it */
    async pauseUntil(until: number): Promise<boolean> {
      let isReported = false;
      const isUpdated = await update((rateLimit) => {
        const next = pauseRequests(rateLimit, { now: clock.now(), until });
        isReported = next.outbox.at(-1) !== rateLimit.outbox.at(-1);
        return next;
      });
      if (isUpdated && isReported) {
        const fields = { account, until: new Date(until).toISOString() };
        log.warn("the provider asks for a long pause, no request of the account leaves", fields);
      }
      return isUpdated;
    },
    /** @param sentAt when the refused request left, epoch ms */
    async keyRefused(sentAt: number): Promise<void> {
      await update((rateLimit) => refuseKey(rateLimit, { now: clock.now(), sentAt }));
    },
    async keyAccepted(sentAt: number): Promise<void> {
      await update((rateLimit) => acceptKey(rateLimit, { now: clock.now(), sentAt }));
    },
  };
};

const WAIT_REASONS: Readonly<Record<Wait["because"], string>> = {
  "budget-spent": "the rate limit is used up",
  "key-refused": "the API key is refused",
  paused: "the provider wants a pause",
};

const isCode = (error: unknown, code: ProviderError["code"]): error is ProviderError =>
  error instanceof ProviderError && error.code === code;

/**
 * Statuses that say nothing about the key: a gateway may answer before the key is checked, and many
 * gateways answer 403 to a revoked key.
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
  /** This one included. */
  readonly sends: number;
}

interface AccountClientOptions {
  readonly account: string;
  readonly provider: Omit<ClientOptions, "apiKey">;
  readonly apiKeys: ApiKeyCache;
  readonly rateLimiter: RateLimiter;
}

/**
 * The client of an account. Each request has a permit of the account's rate limit. A request that was
 * refused with a replaced key is sent again with the new one. A response that concerns the account (a
 * pause, a refused key) is written to the ledger for all processes.
 *
 * Beside what every client throws: ProviderError `budget-spent`, `paused` or `key-refused`, throttled
 * and with `retryAfterMs`, or `budget-unavailable`, transient, when nothing was sent.
 */
export const createAccountClient = (
  ports: AccountClientPorts,
  { account, provider, apiKeys, rateLimiter }: AccountClientOptions,
): Client => {
  const { clock, metrics } = ports;
  const updates = createAccountStateUpdates(ports, account);

  /** @throws ProviderError when there is no permit in time; nothing was sent */
  const acquirePermit = async (
    operation: Operation,
    signal: AbortSignal,
    hasNewKey: boolean,
  ): Promise<void> => {
    const request = { maxWaitMs: MAX_PERMIT_WAIT_MS, signal, hasNewKey };
    const permit = await rateLimiter.acquire(request).catch((cause: unknown) => {
      const text = "not sent, the rate limit cannot be read";
      throw callError(operation, "transient", "budget-unavailable", text, { cause });
    });
    if (permit.kind === "aborted") throw notSent(operation);
    if (permit.kind === "ready") return;
    const text = `not sent, ${WAIT_REASONS[permit.because]}`;
    const retryAfterMs = Math.max(1, permit.until - clock.now());
    throw callError(operation, "throttled", permit.because, text, { retryAfterMs });
  };

  /** Applies what an error says about the account, other than a refused key. */
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
   * The key to send a refused request again with. A refused key means that nothing took effect, also for
   * a mutation.
   * @throws the error itself when the request is not sent again
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
    // The request was sent: without another permit its error stays "refused", not "not sent".
    await acquirePermit(operation, signal, true).catch(() => {
      throw error;
    });
    return next;
  };

  return {
    async call(operation, request, signal = new AbortController().signal) {
      // Before the permit, which would expire while a key is read.
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
