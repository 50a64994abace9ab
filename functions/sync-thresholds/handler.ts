import middy from "@middy/core";
import type { S3ObjectCreatedNotificationEvent, ScheduledEvent } from "aws-lambda";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/lambda/time-budget.ts";
import { syncThresholds } from "../../lib/thresholds/sync.ts";
import type { SyncCause } from "../../lib/thresholds/sync-events.ts";
import type { ConfigFunctionDeps } from "../config-deps.ts";
import { getDeps } from "./deps.ts";

type Call = S3ObjectCreatedNotificationEvent | ScheduledEvent;

const causeOf = (event: Call): SyncCause =>
  event["detail-type"] === "Object Created"
    ? {
        kind: "object-created",
        eventId: event.id,
        sequencer: event.detail.object.sequencer,
      }
    : { kind: "schedule", eventId: event.id };

/** Makes the provider's thresholds equal to the config; whatever calls it is a hint. */
export const createHandler = (deps: () => Promise<ConfigFunctionDeps>) =>
  middy<Call, void>()
    .use(errorBoundary(async () => (await deps()).log))
    .handler(async (event, context) => {
      const { account, source, ...jobDeps } = await deps();
      jobDeps.log.bind(context);
      const budget = startTimeBudget(context, jobDeps.clock);
      try {
        await syncThresholds(jobDeps, { account, source, cause: causeOf(event) }, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getDeps);
