import middy from "@middy/core";
import type { ScheduledEvent, SQSEvent } from "aws-lambda";
import { pollDue } from "../../lib/engine/poller/poll.ts";
import { dueHandlersOfJobs } from "../../lib/jobs/due-handlers.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/platform/lambda/time-budget.ts";
import { type CommandFunctionDeps, getCommandDeps } from "../command-deps.ts";

/** One run of the poller; whether the schedule or a wake called it makes no difference. */
export const createHandler = (deps: () => Promise<CommandFunctionDeps>) =>
  middy<ScheduledEvent | SQSEvent, void>()
    .use(errorBoundary(async () => (await deps()).log))
    .handler(async (_event, context) => {
      const { commands, log } = await deps();
      log.bind(context);
      const budget = startTimeBudget(context, commands.clock);
      try {
        await pollDue({ ...commands, dueHandlers: dueHandlersOfJobs }, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getCommandDeps);
