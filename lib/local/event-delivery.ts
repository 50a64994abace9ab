import pLimit from "p-limit";
import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { BusEvent } from "./bus-records.ts";

const FIRST_RETRY_MS = 1000;
/** EventBridge gives up after a day; here an event waits for as long as its subscriber needs to be mended. */
const LONGEST_RETRY_MS = 60_000;

export type BusHandler = (event: BusEvent) => Promise<void>;

export interface EventDelivery {
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
export const createEventDelivery = (options: {
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
