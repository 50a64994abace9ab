import middy from "@middy/core";
import type { ScheduledEvent } from "aws-lambda";
import { capturePrices, type PriceRun, priceRunFields } from "../../lib/jobs/prices/capture.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/platform/lambda/time-budget.ts";
import { getDeps, type SnapshotPricesDeps } from "./deps.ts";

/** What the schedule sends: `Input` in infra/schedules.cjs. */
export type Tick = Pick<ScheduledEvent, "id" | "time">;

/** Of the tick, not of the call: a tick that is delivered late belongs to its own period. */
const runOf = ({ account, source, periodMs }: SnapshotPricesDeps, { time }: Tick): PriceRun => ({
  account,
  source,
  periodMs,
  scheduledAt: Date.parse(time),
});

/** Prices the watchlist once for the period that the tick belongs to. */
export const createHandler = (deps: () => Promise<SnapshotPricesDeps>) =>
  middy<Tick, void>()
    .use(
      errorBoundary<Tick>(
        async () => (await deps()).log,
        async (tick) => priceRunFields(runOf(await deps(), tick)),
      ),
    )
    .handler(async (tick, context) => {
      const jobDeps = await deps();
      jobDeps.log.bind(context);
      const budget = startTimeBudget(context, jobDeps.clock);
      try {
        await capturePrices(jobDeps, runOf(jobDeps, tick), budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getDeps);
