import { setImmediate as letOthersRun } from "node:timers/promises";
import type { Clock } from "../../lib/platform/ports/clock.ts";

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

export interface VirtualClock extends Clock {
  /** Advances time and wakes sleepers in order of their due time. Woken code may sleep again. */
  advance(durationMs: number): Promise<void>;
}

/** A clock that only the test advances. Default start: 2026-01-01T00:00:00Z. */
export const createVirtualClock = (startAt = Date.UTC(2026, 0, 1)): VirtualClock => {
  let now = startAt;
  const sleepers = new Set<Sleeper>();
  const nextDue = (until: number): Sleeper | undefined =>
    [...sleepers].filter(({ wakeAt }) => wakeAt <= until).sort((a, b) => a.wakeAt - b.wakeAt)[0];

  const sleep = (durationMs: number, signal?: AbortSignal): Promise<void> => {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { wakeAt: now + Math.max(0, durationMs), wake };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  };

  const advance = async (durationMs: number): Promise<void> => {
    const until = now + durationMs;
    await letOthersRun();
    for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
      now = Math.max(now, due.wakeAt);
      due.wake();
      await letOthersRun();
    }
    now = until;
  };

  return { now: () => now, sleep, advance };
};
