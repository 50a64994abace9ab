import middy from "@middy/core";
import type { ScheduledEvent, SQSEvent } from "aws-lambda";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/lambda/time-budget.ts";
import { pollDue } from "../../lib/tasks/poll.ts";
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
        await pollDue(commands, budget);
      } finally {
        budget.stop();
      }
    });

export const handler = createHandler(getCommandDeps);
