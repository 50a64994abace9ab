import middy from "@middy/core";
import type { ScheduledEvent } from "aws-lambda";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/lambda/time-budget.ts";
import { capturePrices } from "../../lib/prices/capture.ts";
import { getDeps, type SnapshotPricesDeps } from "./deps.ts";

/** Prices the watchlist once for the period that the tick belongs to. */
export const createHandler = (deps: () => Promise<SnapshotPricesDeps>) =>
  middy<ScheduledEvent, void>()
    .use(errorBoundary(async () => (await deps()).log))
    .handler(async (event, context) => {
      const { account, source, periodMs, ...jobDeps } = await deps();
      jobDeps.log.bind(context);
      const budget = startTimeBudget(context, jobDeps.clock);
      // Of the tick, not of the call: a tick that is delivered late belongs to its own period.
      const scheduledAt = Date.parse(event.time);
      try {
        await capturePrices(jobDeps, { account, source, scheduledAt, periodMs }, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getDeps);
