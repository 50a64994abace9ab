import { asInJson } from "../contract/json.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Secrets } from "../platform/ports/secrets.ts";
import type { AccountSettings } from "./accounts-config.ts";

/** Both known forms, `1234$abcdef` and `1234_abcdef`, and any other that a header can carry. */
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * The key in a text; a line end after it, as secret files have, is not part of it.
 * @returns undefined when no header can carry it
 */
export const sendableKey = (text: string): string | undefined => {
  const key = text.trim();
  return SENDABLE.test(key) ? key : undefined;
};

/** What is shorter is a word that a reply may have of its own. */
const MIN_KEY_CHARACTERS = 8;

const inLowerCase = (url: string): string => url.replace(/%../g, (code) => code.toLowerCase());

/** Removes an API key from text, also as JSON, as JSON in JSON, and each of these in a URL. */
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
 * A reply without the key in any of its texts and names; a number that has the same digits stays.
 * @param text the reply as it came
 */
export const withoutKey = (reply: unknown, text: string, apiKey: string): unknown => {
  const redact = keyRedactorOf(apiKey);
  const isQuoted = apiKey.length >= MIN_KEY_CHARACTERS && redact(text) !== text;
  return isQuoted ? withTexts(reply, redact) : reply;
};

/** Where an account's key is. */
export interface KeySource {
  /** The name of the place, for people; never the key. */
  readonly reference: string;
  /** @throws Error naming the place, never the key */
  read(): Promise<string>;
}

export interface KeyPorts {
  readonly secrets: Secrets;
  /** Where keys are that the config names as `environment`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The place that an account names. */
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
      if (!key) throw new Error(`the environment variable ${variable} is not set`);
      return key;
    },
  };
};

/**
 * How long a read may take, and how long its answer stands: many refusals at once are one read, and
 * neither a key that stays refused nor one that cannot be read is read for every request.
 */
const REREAD_MS = 5_000;

/** The API key as this process has read it. */
export interface HeldKey {
  /**
   * Read at the first call, kept until it is refused. What no header can carry is not kept.
   * @throws Error when it cannot be read
   */
  current(): Promise<string>;
  /**
   * What to send with after a refusal.
   * @param refused the key that was sent
   * @returns undefined when there is no other key
   * @throws Error when it cannot be read, so that nobody knows
   */
  after(refused: string): Promise<string | undefined>;
}

interface HeldKeyDeps {
  readonly source: KeySource;
  readonly clock: Clock;
  /** Called for each read that gave no key, not more than once in five seconds. */
  readonly onUnreadable: (error: unknown) => void;
}

interface Read {
  /** When it began, epoch ms. */
  readonly at: number;
  readonly key: Promise<string>;
}

const NEVER: Read = { at: Number.NEGATIVE_INFINITY, key: Promise.resolve("") };

export const createHeldKey = ({ source, clock, onUnreadable }: HeldKeyDeps): HeldKey => {
  const { reference } = source;
  let held: Promise<string> | undefined;
  let lastRead = NEVER;

  const readInTime = async (): Promise<string> => {
    const done = new AbortController();
    const late = clock.sleep(REREAD_MS, done.signal).then((): never => {
      throw new Error(`the API key in ${reference} was not read in time`);
    });
    // Ends without anybody waiting for it when the read was faster.
    late.catch(() => {});
    try {
      const key = sendableKey(await Promise.race([source.read(), late]));
      if (key === undefined) throw new Error(`no header can carry the API key in ${reference}`);
      return key;
    } catch (error) {
      onUnreadable(error);
      throw error;
    } finally {
      done.abort();
    }
  };

  const readAgain = (): Promise<string> => {
    const now = clock.now();
    if (now >= lastRead.at + REREAD_MS) lastRead = { at: now, key: readInTime() };
    return lastRead.key;
  };

  const readFirst = async (): Promise<string> => {
    try {
      const key = await readAgain();
      // A refusal of it is looked into at once.
      lastRead = NEVER;
      return key;
    } catch (error) {
      held = undefined;
      throw error;
    }
  };

  const current = (): Promise<string> => {
    held ??= readFirst();
    return held;
  };

  return {
    current,
    async after(refused) {
      const now = await current();
      // Others were faster: this request was sent with an older one.
      if (now !== refused) return now;
      const next = await readAgain();
      held = Promise.resolve(next);
      return next === refused ? undefined : next;
    },
  };
};
