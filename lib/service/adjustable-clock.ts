import type { Clock } from "../platform/ports/clock.ts";

/** Latest instant of an adjustable clock: ISO 8601 texts keep years of four digits. */
const LAST_INSTANT = Date.UTC(9999, 0, 1);

/** A clock that can be moved forward and stopped. Its time never goes back. */
export interface AdjustableClock extends Clock {
  /**
   * Moves the time forward, frozen or not, and wakes every sleep that has become due.
   * @throws RangeError for a negative duration or NaN, and beyond the year 9999
   */
  advance(durationMs: number): void;
  /** Stops the time. */
  freeze(): void;
  /** Lets the time run again, from the instant at which it stands. */
  resume(): void;
  isFrozen(): boolean;
  /** Distance to the clock below, ms; negative after a freeze. */
  aheadMs(): number;
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An adjustable clock that begins at the time of another one and runs at its speed. */
export const createAdjustableClock = (base: Clock): AdjustableClock => {
  let aheadMs = 0;
  let frozenAt: number | undefined;
  /** Interrupts the waits of all sleeps, which then look at the new time. */
  const waits = new Set<AbortController>();
  const interrupt = (): void => {
    for (const wait of waits) wait.abort();
  };
  const now = (): number => frozenAt ?? base.now() + aheadMs;

  const waitFor = async (durationMs: number, signal?: AbortSignal): Promise<void> => {
    const wait = new AbortController();
    const stop = () => wait.abort();
    waits.add(wait);
    signal?.addEventListener("abort", stop);
    try {
      // Only an adjustment ends the wait of a frozen clock.
      if (frozenAt === undefined) await base.sleep(durationMs, wait.signal);
      else await untilAborted(wait.signal);
    } finally {
      signal?.removeEventListener("abort", stop);
      waits.delete(wait);
    }
  };

  return {
    now,
    async sleep(durationMs, signal) {
      const dueAt = now() + durationMs;
      while (now() < dueAt && !signal?.aborted) await waitFor(dueAt - now(), signal);
    },
    advance(durationMs) {
      if (!(durationMs >= 0)) throw new RangeError("the clock only goes forward");
      if (now() + durationMs > LAST_INSTANT)
        throw new RangeError("the clock ends in the year 9999");
      if (frozenAt === undefined) aheadMs += durationMs;
      else frozenAt += durationMs;
      interrupt();
    },
    freeze() {
      frozenAt = now();
      interrupt();
    },
    resume() {
      aheadMs = now() - base.now();
      frozenAt = undefined;
      interrupt();
    },
    isFrozen: () => frozenAt !== undefined,
    aheadMs: () => (frozenAt === undefined ? aheadMs : frozenAt - base.now()),
  };
};
