import pLimit from "p-limit";
import { eventBytes, MAX_EVENT_BYTES } from "../platform/aws/event-size.ts";
import type { BusEntry, EventBus, PublishOutcome } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import {
  type BusEvent,
  type BusRecord,
  deletingEvent,
  eventTime,
  loadBusRecords,
  type PutEvent,
  puttingEvent,
  stampEvent,
} from "./bus-records.ts";
import type { DurableMap } from "./durable-map.ts";
import { type BusHandler, createEventDelivery } from "./event-delivery.ts";
import { LOCAL_SENDER } from "./own-account.ts";
import { nextSequence } from "./sequence.ts";

export interface LocalBusOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The `source` of every event. */
  readonly source: string;
}

export interface LocalBus extends EventBus {
  /** The handler gets what is put here from now on; before `start`, also what is still stored. */
  subscribe(handler: BusHandler): void;
  /** As `subscribe`, for what we have published ourselves. */
  subscribeToOwn(handler: BusHandler): void;
  /** As `subscribe`, for all else. */
  subscribeToOthers(handler: BusHandler): void;
  /**
   * Puts an event of any AWS account here, as that account's PutEvents or rule does.
   * @throws Error when it is too large or cannot be stored
   */
  put(event: PutEvent): Promise<BusEvent>;
  /** Begins to deliver. Until then whatever is published is only stored. To be called once. */
  start(): void;
  /** Resolves when every subscriber has got whatever is published so far. */
  delivered(): Promise<void>;
  /** Ends delivery; resolves when no handler runs any more. What is undelivered stays stored. */
  stop(): Promise<void>;
}

/** What EventBridge answers to it. */
const TOO_LARGE: PublishOutcome = {
  kind: "failed",
  code: "ValidationException",
  message: "Total size of the entries in the request is over the limit.",
};

const failureOf = (error: unknown): PublishOutcome => ({
  kind: "failed",
  code: "InternalFailure",
  message: error instanceof Error ? error.message : "the event cannot be stored",
});

/**
 * An EventBridge bus in this process. Each subscriber gets the events one after the other in the
 * order of publishing, and at least once: an event is stored until every handler has resolved, and
 * delivered again after a restart. An event whose handler rejected is tried again later; it does
 * not hold up the events behind it.
 */
export const openLocalBus = async (options: LocalBusOptions): Promise<LocalBus> => {
  const { map, clock, random, source } = options;
  const delivery = createEventDelivery(options);
  const oneAtATime = pLimit(1);
  let waitingForStart: BusRecord[] | undefined = [...(await loadBusRecords(map))];
  let lastSequence = waitingForStart.at(-1)?.sequence;

  const deliver = (record: BusRecord): void =>
    delivery.deliver(record.event, () => map.write([deletingEvent(record)]));

  const toRecord = (event: PutEvent): BusRecord => {
    lastSequence = nextSequence(lastSequence, clock.now());
    return {
      sequence: lastSequence,
      event: stampEvent(event, { id: random.uuid(), account: LOCAL_SENDER, at: clock.now() }),
    };
  };

  const store = async (events: readonly PutEvent[]): Promise<readonly BusRecord[]> => {
    const records = events.map(toRecord);
    await map.write(records.map(puttingEvent));
    if (waitingForStart === undefined) records.forEach(deliver);
    else waitingForStart.push(...records);
    return records;
  };

  const publishAll = async (entries: readonly BusEntry[]): Promise<PublishOutcome> => {
    const events = entries.map(({ detailType, detail, time }) => ({
      "detail-type": detailType,
      source,
      time: eventTime(time),
      detail,
    }));
    return store(events).then(() => ({ kind: "published" }), failureOf);
  };

  const isOwn = (event: BusEvent): boolean =>
    event.account === LOCAL_SENDER && event.source === source;

  return {
    publish: (entries) =>
      oneAtATime(async () => {
        const fits = entries.map(
          ({ detailType, detail }) =>
            eventBytes(source, detailType, JSON.stringify(detail)) <= MAX_EVENT_BYTES,
        );
        const stored = await publishAll(entries.filter((_, index) => fits[index]));
        return fits.map((isStored) => (isStored ? stored : TOO_LARGE));
      }),
    put: (event) =>
      oneAtATime(async () => {
        const bytes = eventBytes(event.source, event["detail-type"], JSON.stringify(event.detail));
        if (bytes > MAX_EVENT_BYTES) throw new Error("the event is larger than EventBridge takes");
        const [record] = await store([event]);
        if (!record) throw new Error("the event was not stored");
        return record.event;
      }),
    subscribe: delivery.subscribe,
    subscribeToOwn: (handler) =>
      delivery.subscribe(async (event) => (isOwn(event) ? handler(event) : undefined)),
    subscribeToOthers: (handler) =>
      delivery.subscribe(async (event) => (isOwn(event) ? undefined : handler(event))),
    start() {
      waitingForStart?.forEach(deliver);
      waitingForStart = undefined;
    },
    delivered: delivery.delivered,
    stop: delivery.stop,
  };
};
