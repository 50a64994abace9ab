import type { Clock } from "../platform/ports/clock.ts";
import type { Log } from "../platform/ports/log.ts";
import type { Ending } from "./lambda.ts";

/** Wakes the loop of a reader when its queue changes, so that the reader need not poll all the time. */
export interface WakeSignal {
  /** Aborts at the next notification. Take it before reading a queue, so that none is missed. */
  next(): AbortSignal;
  notify(): void;
}

/** Given to `abort`, which otherwise builds an error with a stack. */
const CHANGED = "changed";

export const createWakeSignal = (): WakeSignal => {
  let next = new AbortController();
  return {
    next: () => next.signal,
    notify() {
      const current = next;
      next = new AbortController();
      current.abort(CHANGED);
    },
  };
};

/** An occurrence in the cloud, with the fault that strikes it, if any. */
interface Visit {
  /** Name of the occurrence and its number among those of that name, from 1: `delivery commands #3`. */
  readonly place: string;
  readonly kind: string | undefined;
}

/** Decides which faults strike. In `npm start` none does; a test plans one, draws them, or replays a list. */
export interface Disturbance {
  /**
   * Decides whether a fault strikes this occurrence, and which.
   * @param name occurrences with the same name are counted
   * @param kinds faults that are possible here
   */
  visit(name: string, kinds: readonly string[]): Visit;
  /** A whole number, both bounds included. Equal names give equal numbers. Without faults it is `to`. */
  between(name: string, from: number, to: number): number;
}

export const undisturbed: Disturbance = {
  visit: (place) => ({ place, kind: undefined }),
  between: (_name, _from, to) => to,
};

/** The part of a queue that an event source needs. */
interface SourceQueue<M> {
  /** Receives messages and hides them from later calls for `visibilityMs`. */
  receive(maxMessages: number, visibilityMs: number): Promise<readonly M[]>;
  acknowledge(receiptHandle: string): Promise<unknown>;
  /** When a message can be received, epoch ms: a past instant if one can be now; undefined for an empty queue. */
  nextAt(): number | undefined;
}

export interface QueueSourceOptions<M> {
  /** Name of the queue, in the names of occurrences. */
  readonly name: string;
  readonly queue: SourceQueue<M>;
  /** Notified after each change of the queue. */
  readonly changed: WakeSignal;
  readonly batchSize: number;
  readonly visibilityMs: number;
  readonly maximumConcurrency: number;
  /** Invokes the function. Resolves to the ids of the messages that it could not handle. */
  readonly invoke: (messages: readonly M[]) => Promise<Ending<readonly string[]>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly disturbance: Disturbance;
}

/** An event source of Lambda: invokes a function with the messages of a queue, and deletes handled ones. */
export interface QueueSource {
  /** Resolves after the signal has aborted and the function has ended for the last received batch. */
  run(stopping: AbortSignal): Promise<void>;
  /** Number of batches that the function has, or gets a second time. */
  pending(): number;
}

/** Faults of a delivery. Each is allowed to SQS and Lambda, which deliver at least once. */
const DELIVERY_KINDS = ["comes again early", "comes twice", "held up"];
const LOST = "acknowledgement lost";

/** Polling finds messages that become visible after the system clock has jumped or the machine has slept. */
const POLL_MS = 1_000;
/** Pause without a message that time makes visible: only a notification matters. */
const EMPTY_MS = 60_000;

type Identified = { readonly messageId: string; readonly receiptHandle: string };

export const createQueueSource = <M extends Identified>(
  options: QueueSourceOptions<M>,
): QueueSource => {
  const { name, queue, changed, batchSize, maximumConcurrency, invoke } = options;
  const { clock, log, disturbance } = options;
  const pending = new Set<Promise<void>>();
  let underWay = 0;

  const start = (work: Promise<void>): void => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
  };

  const acknowledge = async (messages: readonly M[]): Promise<void> => {
    for (const { receiptHandle } of messages) {
      const { kind } = disturbance.visit(`acknowledgement ${name}`, [LOST]);
      if (kind !== LOST) await queue.acknowledge(receiptHandle);
    }
  };

  const handle = async (messages: readonly M[], { place, kind }: Visit): Promise<void> => {
    if (kind === "held up") await clock.sleep(disturbance.between(`hold ${place}`, 1_000, 90_000));
    const ending = await invoke(messages);
    if (kind === "comes twice") start(again(messages, place));
    if (ending.kind === "answered") {
      const failed = new Set(ending.answer);
      await acknowledge(messages.filter(({ messageId }) => !failed.has(messageId)));
      return;
    }
    // The whole batch stays in the queue and is received again.
    log.warn("batch not handled, it will be received again", {
      queue: name,
      errorMessage: ending.kind === "failed" ? String(ending.error) : "the machine was killed",
    });
  };

  const again = async (messages: readonly M[], place: string): Promise<void> => {
    await clock.sleep(disturbance.between(`again ${place}`, 0, 120_000));
    await invoke(messages);
  };

  const receive = async (): Promise<boolean> => {
    if (underWay >= maximumConcurrency || (queue.nextAt() ?? Infinity) > clock.now()) return false;
    const visit = disturbance.visit(`delivery ${name}`, DELIVERY_KINDS);
    const visibilityMs =
      visit.kind === "comes again early"
        ? disturbance.between(`visible ${visit.place}`, 500, 20_000)
        : options.visibilityMs;
    const count = disturbance.between(`batch ${visit.place}`, 1, batchSize);
    const messages = await queue.receive(count, visibilityMs);
    if (messages.length === 0) return false;
    underWay += 1;
    const handled = handle(messages, visit)
      // A queue that cannot be written keeps the messages; they are received again.
      .catch((error: unknown) => log.error("queue not writable", { errorMessage: String(error) }))
      .finally(() => {
        underWay -= 1;
        // The next messages of their groups are available now.
        changed.notify();
      });
    start(handled.then(() => {}));
    return true;
  };

  const pauseMs = (): number => {
    const nextAt = underWay < maximumConcurrency ? queue.nextAt() : undefined;
    // A message that is due but was not received belongs to a queue that could not be read.
    if (nextAt === undefined) return EMPTY_MS;
    return nextAt > clock.now() ? Math.min(POLL_MS, nextAt - clock.now()) : POLL_MS;
  };

  return {
    pending: () => pending.size,
    async run(stopping) {
      stopping.addEventListener("abort", changed.notify, { once: true });
      while (!stopping.aborted) {
        const change = changed.next();
        const isReceived = await receive().catch((error: unknown) => {
          log.error("queue not readable, retrying", { errorMessage: String(error) });
          return false;
        });
        if (!isReceived) await clock.sleep(pauseMs(), change);
      }
      while (pending.size > 0) await Promise.all(pending);
    },
  };
};

/** Times of a schedule of EventBridge Scheduler. */
export interface Schedule {
  readonly periodMs: number;
  /** Time from the start to the first tick, ms. */
  readonly firstMs: number;
}

/**
 * Ticks until the signal aborts. Late ticks are not made up for.
 * @param tick calls the function; not awaited, so that ticks may overlap as in AWS
 */
export const runSchedule = async (
  { periodMs, firstMs }: Schedule,
  tick: () => void,
  { clock, stopping }: { readonly clock: Clock; readonly stopping: AbortSignal },
): Promise<void> => {
  // Counted from the planned time, so that the schedule does not drift.
  let nextAt = clock.now() + firstMs;
  while (!stopping.aborted) {
    await clock.sleep(nextAt - clock.now(), stopping);
    if (stopping.aborted) return;
    tick();
    // A system clock that was set back delays no tick.
    nextAt = Math.max(Math.min(nextAt, clock.now()) + periodMs, clock.now());
  }
};
