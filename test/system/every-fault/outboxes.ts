import { commands, outboxIdOf } from "../../../lib/engine/command.ts";
import type { EventBus } from "../../../lib/platform/ports/bus.ts";
import type { LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import type { ObservedLedger } from "../simulation/cloud/observed-ledger.ts";

/** Ids of events in the outbox of an item. */
const eventIdsIn = (item: LedgerItem): readonly string[] => {
  if (item.key.startsWith(`${commands.kind}#`)) {
    const command = commands.fromItem(item);
    return command.outbox.map((entry) => outboxIdOf(command, entry));
  }
  const { outbox } = item.value;
  return Array.isArray(outbox) ? outbox.map(({ deduplicationId }) => deduplicationId) : [];
};

/** Events that no record holds, and those that the recording bus looks up in the records itself. */
const WITHOUT_OUTBOX =
  /^(?:TaskFinished|TaskFailed|CommandRejected|ThresholdsSynced|ThresholdsRejected)$/;

/** Finds events that are published before they are in a record's outbox. */
export const watchOutboxes = () => {
  const durable = new Set<string>();
  const toldTooEarly: string[] = [];
  return {
    watch(ledger: ObservedLedger): void {
      ledger.onWrite((item) => {
        for (const id of eventIdsIn(item)) durable.add(id);
      });
    },
    watched: (bus: EventBus): EventBus => ({
      publish(entries) {
        for (const { detailType, deduplicationId } of entries) {
          const isKept = !WITHOUT_OUTBOX.test(detailType);
          if (isKept && !durable.has(deduplicationId)) toldTooEarly.push(detailType);
        }
        return bus.publish(entries);
      },
    }),
    /** Types of those events. */
    toldTooEarly,
  };
};
