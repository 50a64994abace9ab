import { asInJson } from "../contract/json.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import type { Secrets } from "../platform/ports/secrets.ts";
import type { AccountSettings } from "./accounts-config.ts";

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
      done.abort();
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
