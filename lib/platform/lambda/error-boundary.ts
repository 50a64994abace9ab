import type { MiddlewareObj } from "@middy/core";
import type { Context } from "aws-lambda";
import type { Log, LogFields } from "../ports/log.ts";

/** Kept with the invocation: in one process several may go on at the same time. */
interface Internal extends Record<string, unknown> {
  errorLog?: Log;
}

/**
 * Logs an error that leaves the handler, once and here only; the runtime then reports it. An error
 * of a start-up is reported without a log line: its message says all, and there is no log yet.
 * @param whose what the line names beside the invocation, as far as the call shows: the ids that
 * lines of the same work have
 */
export const errorBoundary = <E>(
  getLog: () => Promise<Log>,
  whose: (event: E, context: Context) => LogFields | Promise<LogFields> = () => ({}),
): MiddlewareObj<E, unknown, Error, Context, Internal> => ({
  before: async function errorBoundaryBefore({ event, context, internal }) {
    const log = await getLog();
    // What is wrong with a call that does not say whose it is, is logged too.
    internal.errorLog = log;
    internal.errorLog = log.with(await whose(event, context));
  },
  onError: async function errorBoundaryOnError({ error, context, internal }) {
    internal.errorLog?.error("invocation failed", {
      requestId: context.awsRequestId,
      errorKind: error?.name ?? "unknown",
      errorMessage: error?.message ?? "",
      stack: error?.stack,
    });
  },
});
