import type { Clock } from "../ports/clock.ts";

/**
 * Runs a start-up once for all invocations of a sandbox. A start-up that failed is forgotten, so
 * that the next invocation tries again.
 */
export const once = <T>(start: () => Promise<T>): (() => Promise<T>) => {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start().catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };
};

/**
 * Reads a value that changes seldom, and keeps it for a while: a rotated key is used without a
 * restart, and not every request reads it. A read that failed is forgotten.
 */
export const keptFor = <T>(
  maxAgeMs: number,
  clock: Clock,
  read: () => Promise<T>,
): (() => Promise<T>) => {
  let kept = once(read);
  let keptUntil = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.now() >= keptUntil) {
      kept = once(read);
      keptUntil = clock.now() + maxAgeMs;
    }
    return kept();
  };
};
