import type { Clock } from "../ports/clock.ts";

/**
 * How long a read may take, and how long its answer stands: many refusals at once are one read, and
 * a key that stays refused is not read for every request.
 */
const REREAD_MS = 5_000;

/** The API key as this process has read it. */
export interface HeldKey {
  /** Read at the first call, kept until it is refused. @throws Error when it cannot be read */
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
  /** The error of a rejection must not hold the key. */
  readonly read: () => Promise<string>;
  readonly clock: Clock;
}

export const createHeldKey = ({ read, clock }: HeldKeyDeps): HeldKey => {
  let held: Promise<string> | undefined;
  let reread = { at: Number.NEGATIVE_INFINITY, key: Promise.resolve("") };

  const readInTime = async (): Promise<string> => {
    const done = new AbortController();
    const late = clock.sleep(REREAD_MS, done.signal).then((): never => {
      throw new Error("the API key was not read in time");
    });
    // Ends without anybody waiting for it when the read was faster.
    late.catch(() => {});
    try {
      // A line end, as secret files have, is no other key.
      return (await Promise.race([read(), late])).trim();
    } finally {
      done.abort();
    }
  };

  const current = (): Promise<string> => {
    held ??= readInTime().catch((error: unknown) => {
      held = undefined;
      throw error;
    });
    return held;
  };

  const readAgain = (): Promise<string> => {
    const now = clock.now();
    if (now >= reread.at + REREAD_MS) reread = { at: now, key: readInTime() };
    return reread.key;
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
