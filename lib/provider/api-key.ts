import { asInJson } from "../contract/json.ts";
import { isoText } from "../events/event.ts";
import { outboxEvent } from "../ledger/outbox.ts";
import { isFarAhead } from "../ledger/record.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { Secrets } from "../platform/ports/secrets.ts";
import type { AccountSettings } from "./accounts-config.ts";
import { episodeOf, type RateLimit, withEvent } from "./rate-limit.ts";

/** Both known forms, `1234$abcdef` and `1234_abcdef`, and any other text that an HTTP header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * Returns the key in a text, without the line end of a secret file.
 * @returns undefined when an HTTP header cannot carry the key
 */
export const sendableKey = (text: string): string | undefined => {
  const key = text.trim();
  return SENDABLE.test(key) ? key : undefined;
};

/** A shorter key could be an ordinary word of a reply. */
const MIN_KEY_CHARACTERS = 8;

const inLowerCase = (url: string): string => url.replace(/%../g, (code) => code.toLowerCase());

/**
 * Creates a function that removes an API key from text: as is, in JSON, in JSON inside JSON, and each of
 * these URL-encoded.
 */
export const keyRedactorOf = (apiKey: string): ((quoted: string) => string) => {
  const inJson = asInJson(apiKey);
  const plain = [apiKey, inJson, asInJson(inJson)];
  const inUrl = plain.map(encodeURIComponent);
  const forms = new Set([...plain, ...inUrl, ...inUrl.map(inLowerCase)]);
  return (quoted) => [...forms].reduce((text, form) => text.replaceAll(form, "[redacted]"), quoted);
};

const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [change(name), withTexts(part, change)]),
  );
};

/**
 * Removes the key from every string and field name of a reply. A number with the same digits stays.
 * @param text the text of the reply before it was parsed
 */
export const withoutKey = (reply: unknown, text: string, apiKey: string): unknown => {
  const redact = keyRedactorOf(apiKey);
  const isQuoted = apiKey.length >= MIN_KEY_CHARACTERS && redact(text) !== text;
  return isQuoted ? withTexts(reply, redact) : reply;
};

/** A place from which an account's key is read. */
export interface KeySource {
  /** Name of the place for logs; never the key. */
  readonly reference: string;
  /** @throws Error naming the place, never the key */
  read(): Promise<string>;
}

export interface KeyPorts {
  readonly secrets: Secrets;
  /** Environment variables; hold the keys of accounts with `api_key: { environment }`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Returns the source of a key: an SSM parameter, or an environment variable of a local run. */
export const keySourceOf = (
  apiKey: NonNullable<AccountSettings["apiKey"]>,
  { secrets, environment }: KeyPorts,
): KeySource => {
  if ("parameter" in apiKey) {
    const { parameter } = apiKey;
    return { reference: parameter, read: () => secrets.read(parameter) };
  }
  const variable = apiKey.environment;
  return {
    reference: variable,
    async read() {
      const key = environment[variable];
      if (!key) throw new Error(`environment variable ${variable} is not set`);
      return key;
    },
  };
};

/**
 * Time limit of a read, and the time for which its result is reused, ms. Concurrent refusals share one
 * read, and a key that stays refused or unreadable is not read again for every request.
 */
const REREAD_MS = 5_000;

/** Caches an account's API key in this process. */
export interface ApiKeyCache {
  /**
   * Reads the key at the first call and caches it until the provider refuses it.
   * @throws Error when it cannot be read, or an HTTP header cannot carry it
   */
  current(): Promise<string>;
  /**
   * Returns the key to use after a refusal: the cached one if it has changed since, else a new read.
   * @param refused the key that was sent
   * @returns undefined when there is no other key
   * @throws Error when the key cannot be read
   */
  after(refused: string): Promise<string | undefined>;
}

interface ApiKeyCachePorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Creates the cache of an account's API key. Logs and counts each failed read. */
export const createApiKeyCache = (
  { clock, log, metrics }: ApiKeyCachePorts,
  account: string,
  { reference, read }: KeySource,
): ApiKeyCache => {
  let cached: Promise<string> | undefined;
  let lastRead: { readonly startedAt: number; readonly key: Promise<string> } | undefined;

  const readInTime = async (): Promise<string> => {
    const done = new AbortController();
    const late = clock.sleep(REREAD_MS, done.signal).then((): never => {
      throw new Error(`reading the API key in ${reference} timed out after ${REREAD_MS} ms`);
    });
    // Without a handler this would be an unhandled rejection whenever the read is faster.
    late.catch(() => {});
    try {
      const key = sendableKey(await Promise.race([read(), late]));
      if (key === undefined) {
        throw new Error(
          `the API key in ${reference} has characters that HTTP headers do not allow`,
        );
      }
      return key;
    } catch (error) {
      metrics.count("AccountKeyUnreadable", { account });
      const errorMessage = error instanceof Error ? error.message : String(error);
      const text = "API key not readable; the account sends nothing until it is";
      log.error(text, { account, reference, errorMessage });
      throw error;
    } finally {
      done.abort("done");
    }
  };

  const readAgain = (): Promise<string> => {
    const now = clock.now();
    if (!lastRead || now >= lastRead.startedAt + REREAD_MS) {
      lastRead = { startedAt: now, key: readInTime() };
    }
    return lastRead.key;
  };

  const readFirst = async (): Promise<string> => {
    try {
      const key = await readAgain();
      // So that the first refusal of this key reads it again at once.
      lastRead = undefined;
      return key;
    } catch (error) {
      cached = undefined;
      throw error;
    }
  };

  const current = (): Promise<string> => {
    cached ??= readFirst();
    return cached;
  };

  return {
    current,
    async after(refused) {
      const now = await current();
      // Another request has replaced the key since this one was sent.
      if (now !== refused) return now;
      const next = await readAgain();
      cached = Promise.resolve(next);
      return next === refused ? undefined : next;
    },
  };
};

/** While the key is refused, the circuit breaker lets one half-open probe through per interval. */
const PROBE_INTERVAL_MS = 30_000;

type KeyState = RateLimit["key"];

/**
 * The circuit breaker of an account's key as one request finds it. `closed`: it may leave. `half-open`: it may leave
 * as the probe, if `key` is recorded with it. `open`: it waits for the next probe.
 */
type Breaker =
  | { readonly kind: "closed"; readonly key: KeyState }
  | { readonly kind: "half-open"; readonly key: Extract<KeyState, { state: "refused" }> }
  | { readonly kind: "open"; readonly nextProbeAt: number };

export interface BreakerRequest {
  readonly now: number;
  /** Whether the requests carry a key that was read after another one was refused. */
  readonly hasNewKey: boolean;
  /** `nextProbeAt` of a half-open probe that was granted to the caller and expired unused. */
  readonly expiredProbe: number | undefined;
}

/**
 * Returns the circuit breaker for requests at `now`. An expired probe is granted to its owner again; other processes
 * wait for the next one.
 */
export const breakerFor = (
  key: KeyState,
  { now, hasNewKey, expiredProbe }: BreakerRequest,
): Breaker => {
  if (key.state === "accepted" || hasNewKey) return { kind: "closed", key };
  const { nextProbeAt } = key;
  const isDue = now >= nextProbeAt || isFarAhead(nextProbeAt, now + PROBE_INTERVAL_MS);
  return isDue || nextProbeAt === expiredProbe
    ? { kind: "half-open", key: { ...key, nextProbeAt: now + PROBE_INTERVAL_MS } }
    : { kind: "open", nextProbeAt };
};

interface KeyResponse {
  readonly now: number;
  /** Time at which the request left. Responses to requests from before the latest change are ignored. */
  readonly sentAt: number;
}

/** Start of an episode: later than the one before, because clocks differ and each needs its own id. */
const startAfter = (since: number, now: number): number =>
  isFarAhead(since, now) ? now : Math.max(now, since + 1);

/** Opens the circuit breaker after the provider refused the key. Publishes the change once. */
export const refuseKey = (rateLimit: RateLimit, { now, sentAt }: KeyResponse): RateLimit => {
  const { account, key } = rateLimit;
  if (key.state === "refused" || (sentAt < key.since && !isFarAhead(key.since, now))) {
    return rateLimit;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, "key-refused", since),
    detailType: "AccountKeyRefused",
    time: since,
    data: { since: isoText(since) },
  });
  const refused = { state: "refused", since, nextProbeAt: now + PROBE_INTERVAL_MS } as const;
  return withEvent({ ...rateLimit, key: refused }, event);
};

/** Closes the circuit breaker after the provider accepted the key. Publishes the change once. */
export const acceptKey = (rateLimit: RateLimit, { now, sentAt }: KeyResponse): RateLimit => {
  const { account, key } = rateLimit;
  if (key.state === "accepted" || (sentAt <= key.since && !isFarAhead(key.since, now))) {
    return rateLimit;
  }
  const since = startAfter(key.since, now);
  const event = outboxEvent({
    ...episodeOf(account, "key-refused", key.since),
    detailType: "AccountKeyAccepted",
    time: since,
    data: { since: isoText(since), refusedSince: isoText(key.since) },
  });
  return withEvent({ ...rateLimit, key: { state: "accepted", since } }, event);
};
