import type { EventBridgeEvent } from "aws-lambda";
import pLimit from "p-limit";
import * as z from "zod";
import type { BusEntry, EventBus, PublishOutcome } from "../platform/ports/bus.ts";
import { eventBytes, MAX_EVENT_BYTES } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import { type DurableMap, type MapChange, nextSequence } from "./durable-store.ts";
import { LOCAL_SENDER } from "./local-sender.ts";

/** An event as EventBridge delivers it to a target. */
export type BusEvent = EventBridgeEvent<string, JsonObject>;

/** An event as its sender writes it; EventBridge fills in missing fields. */
export type PutEvent = Pick<BusEvent, "source" | "detail-type" | "detail"> &
  Partial<Pick<BusEvent, "account" | "id" | "time" | "region" | "resources">>;

/** ISO 8601 without fractions of a second, as EventBridge writes it. */
const eventTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Fills in the fields that EventBridge adds, where the event lacks them. */
export const stampEvent = (
  event: PutEvent,
  stamps: { readonly id: string; readonly account: string; readonly at: number },
): BusEvent => ({
  version: "0",
  id: stamps.id,
  account: stamps.account,
  time: eventTime(stamps.at),
  region: "us-east-1",
  resources: [],
  ...event,
});

/** An event that at least one subscriber has not handled yet. */
interface BusRecord {
  readonly sequence: string;
  readonly event: BusEvent;
}

const recordSchema = z.object({
  sequence: z.string(),
  event: z.object({
    version: z.string(),
    id: z.string(),
    "detail-type": z.string(),
    source: z.string(),
    account: z.string(),
    time: z.string(),
    region: z.string(),
    resources: z.array(z.string()),
    detail: z.record(z.string(), z.json()),
  }),
});

const puttingEvent = ({ sequence, event }: BusRecord): MapChange => ({
  kind: "put",
  key: sequence,
  value: { sequence, event: { ...event } },
});

const FIRST_RETRY_MS = 1000;
/** EventBridge gives up after a day; a local bus retries until the subscriber succeeds. */
const LONGEST_RETRY_MS = 60_000;

export type BusHandler = (event: BusEvent) => Promise<void>;

interface EventDelivery {
  subscribe(handler: BusHandler): void;
  /**
   * Delivers the event to all current subscribers, and retries those that reject it. After the last success,
   * `onDelivered` runs; its rejection counts as one of that subscriber.
   */
  deliver(event: BusEvent, onDelivered: () => Promise<void>): void;
  /** Resolves when nothing is left to deliver. */
  delivered(): Promise<void>;
  /** Ends delivery. Resolves when no handler is running. */
  stop(): Promise<void>;
}

interface Subscriber {
  readonly handler: BusHandler;
  readonly oneAtATime: <T>(work: () => Promise<T>) => Promise<T>;
}

const retryMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);

/** Delivers events to each subscriber one at a time; a failed event is retried after later ones. */
const createEventDelivery = (options: {
  readonly clock: Clock;
  readonly log: Log;
}): EventDelivery => {
  const { clock, log } = options;
  const subscribers: Subscriber[] = [];
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const isStopped = (): boolean => stopping.signal.aborted;

  const deliverTo = async (
    { handler, oneAtATime }: Subscriber,
    event: BusEvent,
    onHandled: () => Promise<void>,
  ): Promise<void> => {
    const attemptOnce = async (): Promise<boolean> => {
      if (isStopped()) return false;
      try {
        // A copy for each attempt, because handlers and middlewares may change the event.
        await handler(structuredClone(event));
        await onHandled();
        return true;
      } catch {
        return false;
      }
    };
    for (let attempt = 1; !isStopped(); attempt += 1) {
      const isDelivered = await oneAtATime(attemptOnce);
      if (isDelivered || isStopped()) return;
      const retryInMs = retryMs(attempt);
      const detailType = event["detail-type"];
      // The handler has logged its error. This line reports the state of the event.
      log.warn("event not delivered", { eventId: event.id, detailType, attempt, retryInMs });
      await clock.sleep(retryInMs, stopping.signal);
    }
  };

  return {
    subscribe(handler) {
      subscribers.push({ handler, oneAtATime: pLimit(1) });
    },
    deliver(event, onDelivered) {
      const outstanding = new Set(subscribers);
      for (const subscriber of subscribers) {
        const run = deliverTo(subscriber, event, async () => {
          outstanding.delete(subscriber);
          if (outstanding.size === 0) await onDelivered();
        }).finally(() => running.delete(run));
        running.add(run);
      }
    },
    async delivered() {
      while (running.size > 0) await Promise.all(running);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
};

export interface LocalBusOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The `source` of every event. */
  readonly source: string;
}

export interface LocalBus extends EventBus {
  /** Subscribes to events from now on; before `start`, also to stored ones. */
  subscribe(handler: BusHandler): void;
  /** As `subscribe`, for events that Skyhook published. */
  subscribeToOwn(handler: BusHandler): void;
  /** As `subscribe`, for all other events. */
  subscribeToOthers(handler: BusHandler): void;
  /**
   * Puts an event of any AWS account, like PutEvents or a rule of that account.
   * @throws Error when the event is too large or cannot be stored
   */
  put(event: PutEvent): Promise<BusEvent>;
  /** Starts delivery. Before it, events are only stored. Call it once. */
  start(): void;
  /** Resolves when every subscriber has handled all events published so far. */
  delivered(): Promise<void>;
  /** Ends delivery. Resolves when no handler is running. Undelivered events stay stored. */
  stop(): Promise<void>;
}

/** EventBridge's response to an oversized entry. */
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
 * An EventBridge bus in this process. Each subscriber gets the events one at a time, in the order of
 * publishing, at least once: an event is stored until every handler resolves, also over a restart. An event
 * with a failed handler is retried later and does not delay the events after it.
 */
export const openLocalBus = async (options: LocalBusOptions): Promise<LocalBus> => {
  const { map, clock, random, source } = options;
  const delivery = createEventDelivery(options);
  const oneAtATime = pLimit(1);
  let waitingForStart: BusRecord[] | undefined = (await map.load()).map(([, value]) =>
    recordSchema.parse(value),
  );
  let lastSequence = waitingForStart.at(-1)?.sequence;

  const deliver = (record: BusRecord): void =>
    delivery.deliver(record.event, () => map.write([{ kind: "delete", key: record.sequence }]));

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
        if (bytes > MAX_EVENT_BYTES)
          throw new Error("the event is larger than 256 KiB, the limit of EventBridge");
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
