import { setImmediate as letOthersRun } from "node:timers/promises";
import { createHeap } from "../../lib/local/heap.ts";
import type { Clock } from "../../lib/platform/ports/clock.ts";

interface Happening {
  readonly at: number;
  /** Orders entries of one instant: the one scheduled first happens first. */
  readonly order: number;
  readonly act: () => void;
}

/** Virtual time. It stands still while code runs, and passes only in `advance`. */
export interface VirtualClock extends Clock {
  /**
   * Jumps from one scheduled entry to the next until the duration has passed. Sleepers wake in
   * order of their due time. Woken code may sleep again.
   * @param isOver ends it early, at the first instant at which it is true
   */
  advance(durationMs: number, isOver?: () => boolean): Promise<void>;
  /** Schedules `act` after `delayMs` of virtual time. */
  after(delayMs: number, act: () => void): void;
  /** Stops virtual time until the work is done. For work that takes turns of real I/O. */
  standStill<T>(work: () => Promise<T>): Promise<T>;
}

const isBefore = (a: Happening, b: Happening): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * @param startsAt epoch ms; default: 2026-01-01T00:00:00Z
 * @param turns turns of the event loop at each instant, which work must suffice that needs no time
 */
export const createVirtualClock = (startsAt = Date.UTC(2026, 0, 1), turns = 1): VirtualClock => {
  const ahead = createHeap(isBefore);
  let now = startsAt;
  let order = 0;
  let atWork = 0;

  const after = (delayMs: number, act: () => void): void => {
    order += 1;
    ahead.push({ at: now + Math.max(0, delayMs), order, act });
  };

  const untilIdle = async (): Promise<void> => {
    for (let turn = 0; turn < turns || atWork > 0; turn += 1) await letOthersRun();
  };

  return {
    now: () => now,
    after,
    sleep: (durationMs, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) {
          resolve();
          return;
        }
        const wake = (): void => {
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        signal?.addEventListener("abort", wake, { once: true });
        after(durationMs, wake);
      }),
    async standStill(work) {
      atWork += 1;
      try {
        return await work();
      } finally {
        atWork -= 1;
      }
    },
    async advance(durationMs, isOver = () => false) {
      const endsAt = now + durationMs;
      await untilIdle();
      for (let next = ahead.peek(); next && next.at <= endsAt; next = ahead.peek()) {
        if (isOver()) return;
        ahead.pop();
        now = Math.max(now, next.at);
        next.act();
        await untilIdle();
      }
      if (!isOver()) now = Math.max(now, endsAt);
    },
  };
};
