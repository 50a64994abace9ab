import type { EventBridgeEvent } from "aws-lambda";
import pLimit from "p-limit";
import * as z from "zod";
import type { BusEntry, EventBus, PublishOutcome } from "../platform/ports/bus.ts";
import { eventBytes, MAX_EVENT_BYTES } from "../platform/ports/bus.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { JsonObject } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Random } from "../platform/ports/random.ts";
import { LOCAL_SENDER } from "./aws-events.ts";
import { type DurableMap, type MapChange, nextSequence } from "./durable-store.ts";

/** An event as EventBridge hands it to a target. */
export type BusEvent = EventBridgeEvent<string, JsonObject>;

/** An event as its sender writes it; EventBridge adds what is not there. */
export type PutEvent = Pick<BusEvent, "source" | "detail-type" | "detail"> &
  Partial<Pick<BusEvent, "account" | "id" | "time" | "region" | "resources">>;

/** ISO 8601 without fractions of a second, as EventBridge writes it. */
const eventTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Adds what EventBridge adds to an event that is put, where the event does not bring it. */
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

/** One event that not every subscriber has had yet. */
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
/** EventBridge gives up after a day; here an event waits for as long as its subscriber needs to be mended. */
const LONGEST_RETRY_MS = 60_000;

export type BusHandler = (event: BusEvent) => Promise<void>;

interface EventDelivery {
  subscribe(handler: BusHandler): void;
  /**
   * Gives the event to every subscriber of this moment, and again to those that rejected it.
   * When the last one has resolved, `onDelivered` runs; its rejection counts as that subscriber's.
   */
  deliver(event: BusEvent, onDelivered: () => Promise<void>): void;
  /** Resolves when nothing is left to deliver. */
  delivered(): Promise<void>;
  /** Ends delivery; resolves when no handler runs any more. */
  stop(): Promise<void>;
}

interface Subscriber {
  readonly handler: BusHandler;
  readonly oneAtATime: <T>(work: () => Promise<T>) => Promise<T>;
}

const retryMs = (attempt: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS);

/** Hands events to subscribers: to each one after the other, a failed one again after the others. */
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
        // A copy each time: handlers and their middlewares may change what they get.
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
      // The handler's own boundary has logged its error; this line says what becomes of the event.
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
