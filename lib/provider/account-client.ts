import type { Operation } from "../contract/operation.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import { type ApiKeyCache, acceptKey, refuseKey } from "./api-key.ts";
import {
  type Client,
  createSend,
  notSent,
  type ProviderOptions,
  readApiKey,
  unlessAborted,
} from "./client.ts";
import { callError, ProviderError } from "./provider-error.ts";
import { type AccountStatePorts, changeAccountState } from "./rate-limit.ts";
import type { RateLimiter, Wait } from "./rate-limiter.ts";

/** Longest time that a call waits for a permit. */
const MAX_PERMIT_WAIT_MS = 5_000;
/** Pause after a 429 without `Retry-After`. */
const DEFAULT_PAUSE_MS = 1_000;
/** One send with the first key, one with a key that another call has read since, and one with a newer key. */
const MAX_SENDS = 3;

export interface AccountClientPorts extends AccountStatePorts {
  readonly clock: Clock;
  readonly metrics: Metrics;
}

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
  readonly provider: ProviderOptions;
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
  const send = createSend(provider);

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

  /** Records that the provider has accepted the key of a request, if the account's key counts as refused. */
  const noteAccepted = async ({ sentAt }: Attempt): Promise<void> => {
    if (!rateLimiter.isKeyRefused()) return;
    await changeAccountState(ports, account, (state) =>
      acceptKey(state, { now: clock.now(), sentAt }),
    );
  };

  /** Records what an error says about the account. */
  const noteError = async (error: unknown, attempt: Attempt): Promise<void> => {
    if (isCode(error, "throttled")) {
      await rateLimiter.pause(clock.now() + (error.retryAfterMs ?? DEFAULT_PAUSE_MS));
    }
    if (showsThatKeyIsAccepted(error)) await noteAccepted(attempt);
  };

  /**
   * Returns another key for a request with a refused key, to send it again. That is safe also for a mutation,
   * because a request with a refused key has no effect.
   * @returns undefined when there is none, when it cannot be read (the cache logs that), or after too many sends; then
   * the account's key counts as refused
   */
  const otherKey = async ({ key, signal, sentAt, sends }: Attempt): Promise<string | undefined> => {
    const isLast = sends >= MAX_SENDS;
    const after = isLast ? undefined : unlessAborted(apiKeys.after(key), signal);
    const next = await after?.catch(() => undefined);
    if (next !== undefined) return next;
    metrics.count("AccountKeyRefused", { account });
    rateLimiter.discard();
    await changeAccountState(ports, account, (state) =>
      refuseKey(state, { now: clock.now(), sentAt }),
    );
    return undefined;
  };

  return {
    async call(operation, request, signal = new AbortController().signal) {
      // The key is read first: a permit would expire meanwhile.
      let key = await readApiKey(operation, apiKeys.current, signal);
      await acquirePermit(operation, signal, false);
      for (let sends = 1; ; sends += 1) {
        const attempt = { key, signal, sentAt: clock.now(), sends };
        try {
          const reply = await send(operation, request, { apiKey: key, signal });
          await noteAccepted(attempt);
          return reply;
        } catch (error) {
          await noteError(error, attempt);
          const next = isCode(error, "key-refused") ? await otherKey(attempt) : undefined;
          if (next === undefined) throw error;
          key = next;
          // The request was sent once, so the error stays "refused", not "not sent", if no permit is granted.
          await acquirePermit(operation, signal, true).catch(() => {
            throw error;
          });
        }
      }
    },
  };
};
