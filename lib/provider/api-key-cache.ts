import type { Clock } from "../platform/ports/clock.ts";
import { sendableKey } from "./api-key.ts";
import type { KeySource } from "./key-source.ts";

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
