import { setTimeout as timer } from "node:timers/promises";
import { v7 } from "uuid";
import type { Clock } from "./ports/clock.ts";
import type { Random } from "./ports/random.ts";

/** Node fires a longer timer at once, so a longer sleep is made of several. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time of this machine. */
export const createSystemClock = (): Clock => ({
  now: () => Date.now(),
  async sleep(durationMs, signal) {
    let leftMs = durationMs;
    while (leftMs > 0 && !signal?.aborted) {
      const stepMs = Math.min(leftMs, LONGEST_TIMER_MS);
      // An abort is the only reason for a timer to reject, and for us it is just the end of the sleep.
      await timer(stepMs, undefined, { signal }).catch(() => undefined);
      leftMs -= stepMs;
    }
  },
});

/** Chance for jitter and ids. Not for secrets: `fraction` can be predicted. */
export const createSystemRandom = (): Random => ({
  fraction: () => Math.random(),
  uuid: () => v7(),
});
