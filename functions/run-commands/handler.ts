import middy from "@middy/core";
import type { SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import type { AttemptTime } from "../../lib/engine/advance.ts";
import type { CommandDeps } from "../../lib/engine/deps.ts";
import { errorFields } from "../../lib/engine/deps.ts";
import { handleMessage } from "../../lib/engine/message-handler.ts";
import { readMessage } from "../../lib/engine/queue-message.ts";
import { type BatchItem, runBatch } from "../../lib/platform/lambda/batch.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { startTimeBudget } from "../../lib/platform/lambda/time-budget.ts";
import { type CommandFunctionDeps, getCommandDeps } from "../command-deps.ts";

/** Several times what the ledger and the bus need to record a command that has to wait. */
const RECORD_MS = 1_000;

/** A message that cannot be read fails by itself, and no other of its batch with it. */
const itemOf = (
  deps: CommandDeps,
  { messageId, body }: SQSRecord,
  time: AttemptTime,
): BatchItem => {
  const own = { ...deps, log: deps.log.with({ messageId }) };
  try {
    const message = readMessage(body, own);
    const run = () => handleMessage(own, message, body, time);
    return { id: messageId, lane: message.lane, run };
  } catch (error) {
    own.log.error("message not readable, it comes again", errorFields(error));
    return { id: messageId, lane: undefined, run: () => Promise.reject(error) };
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
      const time = { signal: budget.signal, has: () => budget.has(attemptTimeoutMs) };
      const items = event.Records.map((record) => itemOf(commands, record, time));
      const { failedIds, errors } = await runBatch(items, () => budget.has(RECORD_MS));
      budget.stop();
      // So that it also shows as a failed invocation; SQS brings the whole batch again either way.
      if (errors.length > 0 && failedIds.length === items.length) {
        throw new Error("no message of the batch could be handled");
      }
      return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
    });

export const handler = createHandler(getCommandDeps);
