import type { MiddlewareObj } from "@middy/core";
import type { Log } from "../ports/log.ts";

/** Logs an error that leaves the handler, once and here only; the runtime then reports it. */
export const errorBoundary = (getLog: () => Promise<Log>): MiddlewareObj => ({
  onError: async function errorBoundaryOnError({ error, context }) {
    // A start-up that failed has no log; the runtime prints the error itself.
    const log = await getLog().catch(() => undefined);
    log?.error("invocation failed", {
      requestId: context.awsRequestId,
      errorKind: error?.name ?? "unknown",
      errorMessage: error?.message ?? "",
    });
  },
});
