import type { BusEntry, EventBus } from "../platform/ports/bus.ts";
import type { Log } from "../platform/ports/log.ts";

/**
 * Publishes events and answers the deduplication ids of those that the bus has taken.
 * What failed stays with its owner, who publishes the same event again.
 */
export const publish = async (
  { bus, log }: { readonly bus: EventBus; readonly log: Log },
  events: readonly BusEntry[],
): Promise<ReadonlySet<string>> => {
  if (events.length === 0) return new Set();
  const outcomes = await bus.publish(events);
  const published = new Set<string>();
  for (const [index, event] of events.entries()) {
    const outcome = outcomes[index];
    if (outcome?.kind === "published") published.add(event.deduplicationId);
    else {
      log.warn("event not published", {
        detailType: event.detailType,
        eventId: event.deduplicationId,
        errorCode: outcome?.code ?? "no-outcome",
      });
    }
  }
  return published;
};

/**
 * Publishes an event that no record holds.
 * @throws Error when the bus has not taken it: the caller has to run again
 */
export const publishNow = async (
  deps: { readonly bus: EventBus; readonly log: Log },
  event: BusEntry,
): Promise<void> => {
  const published = await publish(deps, [event]);
  if (published.size === 0) throw new Error(`${event.detailType} could not be published`);
};
