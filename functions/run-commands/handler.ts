import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { handleMessage, readMessage } from "../../lib/commands/message.ts";
import { type BatchItem, runBatch } from "../../lib/lambda/batch.ts";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/lambda/time-budget.ts";
import { type CommandFunctionDeps, getCommandDeps } from "../command-deps.ts";

/** A message that cannot be read fails by itself, and no other of its batch with it. */
const itemOf = (id: string, read: () => Omit<BatchItem, "id">): BatchItem => {
  try {
    return { id, ...read() };
  } catch (error) {
    return { id, lane: undefined, run: () => Promise.reject(error) };
  }
};

/** Runs commands from the FIFO queue; answers which messages must come again. */
export const createHandler = (deps: () => Promise<CommandFunctionDeps>) =>
  middy<SQSEvent, SQSBatchResponse>()
    .use(errorBoundary(async () => (await deps()).log))
    .handler(async (event, context) => {
      const { commands, log, attemptTimeoutMs } = await deps();
      log.bind(context);
      const budget = startTimeBudget(context, commands.clock);
      const items = event.Records.map(({ messageId, body }) =>
        itemOf(messageId, () => {
          const message = readMessage(body, commands);
          const run = () => handleMessage(commands, message, body, budget.signal);
          return { lane: message.lane, run };
        }),
      );
      const { failedIds, errors } = await runBatch(items, () => budget.has(attemptTimeoutMs));
      budget.stop();
      for (const error of errors) {
        log.error("message not handled, it comes again", {
          errorKind: error instanceof Error ? error.name : "unknown",
          errorMessage: error instanceof Error ? error.message : String(error),
        });
      }
      // So that it also shows as a failed invocation; SQS brings the whole batch again either way.
      if (errors.length > 0 && failedIds.length === items.length) {
        throw new Error("no message of the batch could be handled");
      }
      return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
    });

export const handler = createHandler(getCommandDeps);
