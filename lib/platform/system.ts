import { setTimeout as timer } from "node:timers/promises";
import { v7 } from "uuid";
import type { Clock } from "./ports/clock.ts";
import type { Random } from "./ports/random.ts";

/** Node fires a longer timer at once, so a longer sleep consists of several timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of this machine. */
export const createSystemClock = (): Clock => ({
  now: () => Date.now(),
  async sleep(durationMs, signal) {
    let leftMs = durationMs;
    while (leftMs > 0 && !signal?.aborted) {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      // A timer rejects only when it is aborted, which just ends the sleep.
      await timer(stepMs, undefined, { signal }).catch(() => undefined);
      leftMs -= stepMs;
    }
  },
});

/** Random numbers for jitter and ids. Not for secrets, because `fraction` is predictable. */
export const createSystemRandom = (): Random => ({
  fraction: () => Math.random(),
  uuid: () => v7(),
});
