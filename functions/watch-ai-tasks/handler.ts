import middy from "@middy/core";
import type { ScheduledEvent } from "aws-lambda";
import { watchAiTasks } from "../../lib/jobs/ai-tasks/watch-ai-tasks.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/platform/lambda/time-budget.ts";
import { getDeps, type WatchAiTasksDeps } from "./deps.ts";

/** Whose the lines of a run are. */
const runFields = ({ id }: ScheduledEvent) => ({ correlationId: id });

/** Finds new AI tasks, and tells of those that have ended. */
export const createHandler = (deps: () => Promise<WatchAiTasksDeps>) =>
  middy<ScheduledEvent, void>()
    .use(errorBoundary(async () => (await deps()).log, runFields))
    .handler(async (event, context) => {
      const { account, taskName, log, ...others } = await deps();
      log.bind(context);
      const jobDeps = { ...others, log: log.with(runFields(event)) };
      const budget = startTimeBudget(context, jobDeps.clock);
      try {
        await watchAiTasks(jobDeps, { account, taskName }, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getDeps);
