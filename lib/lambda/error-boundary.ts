import type { MiddlewareObj } from "@middy/core";
import type { Log } from "../ports/log.ts";

/**
 * Logs an error that leaves the handler, once and here only; the runtime then reports it. An error
 * of a start-up is reported without a log line: its message says all, and there is no log yet.
 */
export const errorBoundary = (getLog: () => Promise<Log>): MiddlewareObj => {
  let log: Log | undefined;
  return {
    before: async function errorBoundaryBefore() {
      log = await getLog();
    },
    onError: async function errorBoundaryOnError({ error, context }) {
      log?.error("invocation failed", {
        requestId: context.awsRequestId,
        errorKind: error?.name ?? "unknown",
        errorMessage: error?.message ?? "",
        stack: error?.stack,
      });
    },
  };
};
