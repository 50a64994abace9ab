import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createRecordingBus, type RecordingBus } from "../../support/recording-bus.ts";

/** Ids of events in the outbox of an item. */
const eventIdsIn = (outbox: unknown): readonly string[] =>
  Array.isArray(outbox) ? outbox.map(({ deduplicationId }) => deduplicationId) : [];

/** Events that no record holds, and those that the recording bus looks up in the records itself. */
const WITHOUT_OUTBOX =
  /^(?:TaskFinished|TaskFailed|CommandRejected|ThresholdsSynced|ThresholdsRejected)$/;

/**
 * A ledger in memory that lists its keys, and a bus that knows which events were durable.
 * @param sender our own AWS account
 */
export const createLedgerAndBus = (sender: string) => {
  const memory = createMemoryLedger();
  const keys = new Set<string>();
  const eventIds = new Set<string>();
  const ledger: Ledger = {
    ...memory,
    async write(item) {
      const answer = await memory.write(item);
      if (answer === "written") {
        keys.add(item.key);
        for (const id of eventIdsIn(item.value.outbox)) eventIds.add(id);
      }
      return answer;
    },
  };
  const bus = createRecordingBus(ledger, sender);
  const toldTooEarly: string[] = [];
  const watchedBus: RecordingBus = {
    ...bus,
    publish(entries) {
      for (const { detailType, deduplicationId } of entries) {
        const isKept = !WITHOUT_OUTBOX.test(detailType);
        if (isKept && !eventIds.has(deduplicationId)) toldTooEarly.push(detailType);
      }
      return bus.publish(entries);
    },
  };
  return {
    ledger,
    ledgerKeys: (): readonly string[] => [...keys].sort(),
    bus: watchedBus,
    /** Types of events that were published before they were in a record's outbox. */
    toldTooEarly,
  };
};
