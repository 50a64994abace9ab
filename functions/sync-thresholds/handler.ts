import middy from "@middy/core";
import type { Context, S3ObjectCreatedNotificationEvent, ScheduledEvent } from "aws-lambda";
import { syncThresholds } from "../../lib/jobs/thresholds/sync.ts";
import type { SyncCause } from "../../lib/jobs/thresholds/sync-events.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/platform/lambda/time-budget.ts";
import type { ConfigFunctionDeps } from "../config-deps.ts";
import { getDeps } from "./deps.ts";

type Call = S3ObjectCreatedNotificationEvent | ScheduledEvent;

/** A call by hand has neither an id nor a type: it looks for drift, as the schedule does. */
const causeOf = (event: Call, { awsRequestId }: Context): SyncCause => {
  const eventId = event.id || awsRequestId;
  return event["detail-type"] === "Object Created"
    ? // Where there are no sequencers, every event counts.
      { kind: "object-created", eventId, sequencer: event.detail.object.sequencer || undefined }
    : { kind: "schedule", eventId };
};

/** Makes the provider's thresholds equal to the config; whatever calls it is a hint. */
export const createHandler = (deps: () => Promise<ConfigFunctionDeps>) =>
  middy<Call, void>()
    .use(
      errorBoundary<Call>(
        async () => (await deps()).log,
        (event, context) => ({ correlationId: causeOf(event, context).eventId }),
      ),
    )
    .handler(async (event, context) => {
      const { account, source, ...jobDeps } = await deps();
      jobDeps.log.bind(context);
      const budget = startTimeBudget(context, jobDeps.clock);
      try {
        await syncThresholds(jobDeps, { account, source, cause: causeOf(event, context) }, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getDeps);
