import { v7 } from "uuid";
import type { Clock } from "./ports/clock.ts";
import type { Random } from "./ports/random.ts";

/** Node fires a longer timer at once, so a longer sleep consists of several timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after the time, or when the signal aborts. Node's own timer builds an error with a stack then. */
const timer = (durationMs: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(running);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const running = setTimeout(end, durationMs);
    signal?.addEventListener("abort", end, { once: true });
  });

/** The clock of this machine. */
export const createSystemClock = (): Clock => ({
  now: () => Date.now(),
  async sleep(durationMs, signal) {
    let leftMs = durationMs;
    while (leftMs > 0 && !signal?.aborted) {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      await timer(stepMs, signal);
      leftMs -= stepMs;
    }
  },
});

/** Random numbers for jitter and ids. Not for secrets, because `fraction` is predictable. */
export const createSystemRandom = (): Random => ({
  fraction: () => Math.random(),
  uuid: () => v7(),
});
