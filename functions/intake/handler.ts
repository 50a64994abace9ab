import middy from "@middy/core";
import type { SQSBatchResponse } from "aws-lambda";
import { parseJson } from "../../lib/contract/json.ts";
import { errorFields } from "../../lib/engine/deps.ts";
import { callFields, type QueuedCall, readBatch } from "../../lib/intake/bus-event.ts";
import { type IntakeDeps, takeIn } from "../../lib/intake/ingest.ts";
import { type BatchItem, runBatch } from "../../lib/platform/lambda/batch.ts";
import { errorBoundary } from "../../lib/platform/lambda/error-boundary.ts";
import { getDeps, type IntakeFunctionDeps } from "./deps.ts";

const itemOf = (deps: IntakeDeps, { messageId, body }: QueuedCall): BatchItem => ({
  id: messageId,
  // Events have no order among each other: the command queue orders what becomes of them.
  lane: undefined,
  async run() {
    const call = parseJson(body);
    const log = deps.log.with({ messageId });
    try {
      await takeIn({ ...deps, log }, call);
    } catch (error) {
      const fields = { ...callFields(call), ...errorFields(error) };
      log.error("event not accepted, SQS delivers it again", fields);
      throw error;
    }
  },
});

/** Accepts what the rules of the buses send; they have decided who may send it. */
export const createHandler = (deps: () => Promise<IntakeFunctionDeps>) =>
  middy<unknown, SQSBatchResponse | undefined>()
    .use(errorBoundary(async () => (await deps()).log, callFields))
    .handler(async (call, context) => {
      const { intake, log } = await deps();
      log.bind(context);
      const batch = readBatch(call);
      if (!batch) {
        await takeIn(intake, call);
        return undefined;
      }
      const items = batch.map((message) => itemOf(intake, message));
      // All of them begin at once, so there is no time to run short of.
      const { failedIds, errors } = await runBatch(items, () => true);
      // So that it also shows as a failed invocation; SQS delivers the whole batch again either way.
      if (errors.length > 0 && failedIds.length === items.length) {
        throw new Error("no message of the batch could be handled");
      }
      return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
    });

export const handler = createHandler(getDeps);
