import type { SQSBatchResponse } from "aws-lambda";

/** One record of a batch. */
export interface BatchItem {
  readonly id: string;
  /** Items of one lane run in order; an item without a lane runs alone. */
  readonly lane: string | undefined;
  /** Resolves when the record is done; rejects when SQS must deliver it again. */
  readonly run: () => Promise<void>;
}

export interface BatchOutcome {
  /** Ids of the records that SQS must deliver again. */
  readonly failedIds: readonly string[];
  readonly errors: readonly unknown[];
}

interface LaneOutcome {
  readonly unfinished: readonly BatchItem[];
  readonly error?: unknown;
}

/** Runs items in order, up to the first failure or until the time is short; SQS redelivers the rest. */
const runLane = async (
  items: readonly BatchItem[],
  hasTime: () => boolean,
): Promise<LaneOutcome> => {
  for (const [index, item] of items.entries()) {
    if (!hasTime()) return { unfinished: items.slice(index) };
    try {
      await item.run();
    } catch (error) {
      return { unfinished: items.slice(index), error };
    }
  }
  return { unfinished: [] };
};

/**
 * Runs a batch: lanes in parallel, the items of a lane in order. A lane stops at its first failure, so
 * that no item overtakes another. No item starts without time. A redelivered record costs a receive and
 * blocks its FIFO group for the visibility timeout. An item with little time should therefore record
 * what it can instead of being left.
 * @param hasTime whether the invocation has enough time to record one more item
 */
export const runBatch = async (
  items: readonly BatchItem[],
  hasTime: () => boolean,
): Promise<BatchOutcome> => {
  const lanes = new Map<string, BatchItem[]>();
  for (const item of items) {
    const lane = item.lane === undefined ? `item ${item.id}` : `lane ${item.lane}`;
    lanes.set(lane, [...(lanes.get(lane) ?? []), item]);
  }
  const outcomes = await Promise.all([...lanes.values()].map((lane) => runLane(lane, hasTime)));
  return {
    failedIds: outcomes.flatMap(({ unfinished }) => unfinished.map(({ id }) => id)),
    errors: outcomes.flatMap((outcome) => ("error" in outcome ? [outcome.error] : [])),
  };
};

/**
 * Runs a batch as `runBatch` does. Resolves to the records that SQS must deliver again.
 * @throws Error when no record could be handled, so that it counts as a failed invocation; SQS delivers
 * the whole batch again either way
 */
export const answerBatch = async (
  items: readonly BatchItem[],
  hasTime: () => boolean,
): Promise<SQSBatchResponse> => {
  const { failedIds, errors } = await runBatch(items, hasTime);
  if (errors.length > 0 && failedIds.length === items.length) {
    throw new Error("no message of the batch could be handled");
  }
  return { batchItemFailures: failedIds.map((itemIdentifier) => ({ itemIdentifier })) };
};
