/** One record of a batch. */
export interface BatchItem {
  readonly id: string;
  /** Items of one lane are handled in order; without a lane an item stands alone. */
  readonly lane: string | undefined;
  /** When it resolves, the record is done; when it rejects, the record must come again. */
  readonly run: () => Promise<void>;
  /**
   * Replaces `run` when time is short: makes the record durable, so that it is done too. Without it
   * the record comes again.
   */
  readonly defer?: () => Promise<void>;
}

/** Whether what is left of the invocation suffices for one more of these. */
export type HasTime = (work: "run" | "defer") => boolean;

export interface BatchOutcome {
  /** Ids of the records that must come again. */
  readonly failedIds: readonly string[];
  readonly errors: readonly unknown[];
}

interface LaneOutcome {
  readonly unfinished: readonly BatchItem[];
  readonly error?: unknown;
}

/** What to do about the item now; undefined when time suffices for nothing that it offers. */
const nextWork = ({ run, defer }: BatchItem, hasTime: HasTime): BatchItem["defer"] => {
  if (hasTime("run")) return run;
  return defer && hasTime("defer") ? defer : undefined;
};

/** In order, up to the first failure or until no time is left; the rest must come again. */
const runLane = async (items: readonly BatchItem[], hasTime: HasTime): Promise<LaneOutcome> => {
  for (const [index, item] of items.entries()) {
    const work = nextWork(item, hasTime);
    if (!work) return { unfinished: items.slice(index) };
    try {
      await work();
    } catch (error) {
      return { unfinished: items.slice(index), error };
    }
  }
  return { unfinished: [] };
};

/**
 * Works through a batch: lanes side by side, in order inside a lane. A lane stops at its first
 * failure, so that no item overtakes another. When time is short, items are deferred: a record that
 * comes again costs a receive, and shuts its group of a FIFO queue for the visibility timeout.
 */
export const runBatch = async (
  items: readonly BatchItem[],
  hasTime: HasTime,
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
