import * as z from "zod";
import type { DetailType } from "../events/catalogue.ts";
import { eventOf, type Fact, publish } from "../events/event.ts";
import type { EventBus } from "../platform/ports/bus.ts";
import type { JsonObject, Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import { type RecordRules, recordKind, storedJsonObject } from "./record.ts";

const detailSchema = z.record(z.string(), z.json());

export const outboxEventSchema = z.object({
  detailType: z.string(),
  detail: storedJsonObject,
  time: z.int(),
  groupId: z.string(),
  deduplicationId: z.string(),
});

/** Events still to be published, the oldest first. */
export const outboxSchema = z.array(outboxEventSchema);

export type OutboxEvent = z.output<typeof outboxEventSchema>;

/** The event of a fact, in the form that a record stores. */
export const outboxEvent = <T extends DetailType, Data extends JsonObject>(
  fact: Fact<T, Data>,
): OutboxEvent => {
  const event = eventOf(fact);
  return { ...event, detail: detailSchema.parse(event.detail) };
};

/**
 * The writer of a record publishes its events at once. The poller publishes them only when the writer
 * did not, or every event would be published twice.
 */
const PUBLISH_GRACE_MS = 5_000;

interface FlushDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly log: Log;
}

type OutboxSchema = z.ZodType<{ readonly outbox: OutboxEvent[] }>;

/**
 * A kind of record that publishes its changes. The events are written with the change, so each event
 * reports a durable state, and the record is due until they are published.
 */
export const outboxKind = <S extends OutboxSchema>(rules: Omit<RecordRules<S>, "dueAt">) => {
  const kind = recordKind({
    ...rules,
    dueAt: ({ outbox }) =>
      outbox.length === 0
        ? undefined
        : Math.max(...outbox.map(({ time }) => time)) + PUBLISH_GRACE_MS,
  });
  const publishAll = async (deps: FlushDeps, key: string): Promise<void> => {
    const stored = await kind.read(deps.ledger, key);
    if (!stored || stored.value.outbox.length === 0) return;
    const published = await publish(deps, stored.value.outbox);
    const { value } = await kind.update(deps.ledger, key, (current) => ({
      ...current,
      outbox: current.outbox.filter(({ deduplicationId }) => !published.has(deduplicationId)),
    }));
    if (value.outbox.length > 0)
      throw new Error(`the bus did not take every event of ${kind.kind}#${key}`);
  };

  return {
    ...kind,
    /**
     * Publishes the outbox; an event that the bus does not take stays for the next time.
     * @throws Error when the bus did not take all events; the record stays due
     */
    publish: publishAll,
    /** As `publish`, but logs a failure and leaves the events to the poller. */
    async publishOrLeave(deps: FlushDeps, key: string): Promise<void> {
      try {
        await publishAll(deps, key);
      } catch (error) {
        deps.log.warn("events not published, they stay due", {
          key: `${kind.kind}#${key}`,
          errorMessage: error instanceof Error ? error.message : String(error),
        });
      }
    },
  };
};
