import type { SQSBatchResponse } from "aws-lambda";

/** One record of a batch. */
export interface BatchItem {
  readonly id: string;
  /** Items of one lane are handled in order; without a lane an item stands alone. */
  readonly lane: string | undefined;
  /** When it resolves, the record is done; when it rejects, the record must come again. */
  readonly run: () => Promise<void>;
}

export interface BatchOutcome {
  /** Ids of the records that must come again. */
  readonly failedIds: readonly string[];
  readonly errors: readonly unknown[];
}

interface LaneOutcome {
  readonly unfinished: readonly BatchItem[];
  readonly error?: unknown;
}

/** In order, up to the first failure or until no time is left; the rest must come again. */
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
 * Works through a batch: lanes side by side, in order inside a lane. A lane stops at its first
 * failure, so that no item overtakes another, and no item starts without time. A record that comes
 * again costs a receive, and shuts its group of a FIFO queue for the visibility timeout: an item that
 * has little time is to record what it can rather than to be left.
 * @param hasTime whether what is left of the invocation suffices to record one more item
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
 * Works through a batch as `runBatch` does, and answers which records SQS must deliver again.
 * @throws Error when no record could be handled, so that it also shows as a failed invocation; SQS
 * delivers the whole batch again either way
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
