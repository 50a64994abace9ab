import { aiTasks } from "./ai-tasks/ai-task.ts";
import { aiWatches } from "./ai-tasks/ai-watch.ts";
import { priceItems, priceRuns } from "./prices/price.ts";
import { thresholdSyncs } from "./thresholds/threshold-sync.ts";

/** Publishes what a job has left in the outbox of a record, by kind of record; for the poller. */
export const dueHandlersOfJobs = new Map(
  [thresholdSyncs, priceItems, priceRuns, aiTasks, aiWatches].map(({ kind, publish }) => [
    kind,
    publish,
  ]),
);
