import type { Context } from "aws-lambda";
import type { Clock } from "../ports/clock.ts";

/** Kept back at the end of an invocation for recording what happened. */
const RESERVE_MS = 3_000;

export interface TimeBudget {
  /** Epoch ms; from then on only what happened is recorded. */
  readonly endsAt: number;
  /** Aborts calls that would outlive the budget. */
  readonly signal: AbortSignal;
  /** Whether `durationMs` more fit in. */
  has(durationMs: number): boolean;
  /** To be called at the end of the invocation. */
  stop(): void;
}

/** The part of an invocation's time that may be spent on new work. */
export const startTimeBudget = (context: Context, clock: Clock): TimeBudget => {
  const workMs = Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
  const endsAt = clock.now() + workMs;
  const over = new AbortController();
  const stopped = new AbortController();
  void clock.sleep(workMs, stopped.signal).then(() => stopped.signal.aborted || over.abort());
  return {
    endsAt,
    signal: over.signal,
    has: (durationMs) => clock.now() + durationMs <= endsAt,
    stop: () => stopped.abort(),
  };
};
