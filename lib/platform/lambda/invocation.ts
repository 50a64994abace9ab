import middy from "@middy/core";
import type { Context } from "aws-lambda";
import type { Clock } from "../ports/clock.ts";
import type { Log, LogFields } from "../ports/log.ts";

/** A log with the invocation in each line. */
export interface InvocationLog extends Log {
  bind(context: Context): void;
}

/** State of one invocation, because several may run in one process at the same time. */
interface Internal extends Record<string, unknown> {
  errorLog?: Log;
}

/**
 * Makes a handler with a log bound to the invocation. An error that leaves the handler is logged only
 * here, once; the runtime then reports it.
 * @param fieldsOf further log fields of that line: ids from the event that other lines of the same work
 * also have
 */
export const createHandler = <E, R>(
  log: InvocationLog,
  run: (event: E, context: Context) => Promise<R>,
  fieldsOf: (event: E, context: Context) => LogFields = () => ({}),
): ((event: E, context: Context) => Promise<R>) =>
  // The handlers have a time budget on the clock port; middy's own limit would be a timer in real time.
  middy<E, R, Error, Context, Internal>({ timeoutEarlyInMillis: 0 })
    .use({
      before: async function errorBoundaryBefore({ event, context, internal }) {
        // `fieldsOf` throws for an event without readable ids; that error is logged too.
        internal.errorLog = log;
        internal.errorLog = log.with(fieldsOf(event, context));
      },
      onError: async function errorBoundaryOnError({ error, context, internal }) {
        internal.errorLog?.error("invocation failed", {
          requestId: context.awsRequestId,
          errorKind: error?.name ?? "unknown",
          errorMessage: error?.message ?? "",
          stack: error?.stack,
        });
      },
    })
    .handler((event, context) => {
      log.bind(context);
      return run(event, context);
    });

/**
 * Runs a start-up once for all invocations of a sandbox. A failed start-up is forgotten, so that the
 * next invocation tries again.
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

/** Time at the end of an invocation that is reserved for recording outcomes. */
const RESERVE_MS = 3_000;

/** The part of an invocation's time that may be spent on new work. */
export interface TimeBudget {
  /** Epoch ms; from then on the invocation only records outcomes. */
  readonly endsAt: number;
  /** Aborts calls that would outlive the budget. */
  readonly signal: AbortSignal;
  /** Reports whether work of `durationMs` still fits. */
  has(durationMs: number): boolean;
}

/** Given to `abort`, which otherwise builds an error with a stack. */
const ENDED = "the work has ended";

/** Runs work with the time budget of an invocation. The signal does not abort after the work ended. */
export const withTimeBudget = async <R>(
  context: Context,
  clock: Clock,
  work: (budget: TimeBudget) => Promise<R>,
): Promise<R> => {
  const workMs = Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
  const endsAt = clock.now() + workMs;
  const over = new AbortController();
  const ended = new AbortController();
  void clock.sleep(workMs, ended.signal).then(() => ended.signal.aborted || over.abort());
  try {
    return await work({
      endsAt,
      signal: over.signal,
      has: (durationMs) => clock.now() + durationMs <= endsAt,
    });
  } finally {
    ended.abort(ENDED);
  }
};
