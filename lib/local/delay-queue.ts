import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { Waker } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { DurableMap } from "./durable-store.ts";
import { createHeap } from "./heap.ts";

export interface DelayQueueOptions {
  readonly map: DurableMap;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of receives after which an unacknowledged wake is dropped: the schedule replaces it. */
  readonly maxReceiveCount: number;
  /** Called when there is a new wake. */
  readonly onMessage?: () => void;
}

export interface Wake {
  readonly wakeId: string;
  /** Requested time, epoch ms. */
  readonly at: number;
  /** Shard of the due index that the run handles. */
  readonly shard: number;
}

export interface DelayQueue extends Waker {
  /** Instant at which the next wake is visible, epoch ms; undefined without a waiting wake. */
  nextAt(): number | undefined;
  /**
   * Receives at most `maxWakes` that are due, the earliest first. Unacknowledged ones are visible again after
   * `visibilityMs`.
   */
  receive(maxWakes: number, visibilityMs: number): Promise<readonly Wake[]>;
  acknowledge(wakeId: string): Promise<void>;
}

interface Entry {
  readonly wake: Wake;
  readonly visibleAt: number;
  /** Number of receives so far. */
  readonly receives: number;
}

const wakeSchema = z.object({
  wakeId: z.string(),
  at: z.number(),
  // Absent in data of earlier versions, which had one shard.
  shard: z.int().default(0),
});

/** The longest delay of SQS. A wake for a later time arrives then, as from lib/platform/aws/sqs-queues.ts. */
const LONGEST_DELAY_MS = 900_000;

/**
 * The wake queue of a local run: at-least-once, without a guaranteed order, exact to the millisecond. Wakes
 * survive the process; received and unacknowledged ones are visible again at the next start.
 */
export const openDelayQueue = async (options: DelayQueueOptions): Promise<DelayQueue> => {
  const { map, clock, random, maxReceiveCount } = options;
  /** Instant at which each wake is visible, by its id. */
  const visibleAt = new Map<string, number>();
  /** Has an entry for each wake, and stale ones of acknowledged wakes. */
  const byTime = createHeap<Entry>((a, b) => a.visibleAt < b.visibleAt);
  const show = (entry: Entry): void => {
    visibleAt.set(entry.wake.wakeId, entry.visibleAt);
    byTime.push(entry);
  };
  /** The wake that is visible first. */
  const first = (): Entry | undefined => {
    for (let entry = byTime.peek(); entry; entry = byTime.peek()) {
      if (visibleAt.get(entry.wake.wakeId) === entry.visibleAt) return entry;
      byTime.pop();
    }
    return undefined;
  };
  const add = (wake: Wake): void =>
    show({ wake, visibleAt: Math.min(wake.at, clock.now() + LONGEST_DELAY_MS), receives: 0 });
  const remove = async (wakeId: string): Promise<void> => {
    await map.write([{ kind: "delete", key: wakeId }]);
    visibleAt.delete(wakeId);
  };
  for (const [, value] of await map.load()) add(wakeSchema.parse(value));

  return {
    async wakeAt(at, shard) {
      const wake: Wake = { wakeId: random.uuid(), at, shard };
      await map.write([{ kind: "put", key: wake.wakeId, value: { ...wake } }]);
      add(wake);
      options.onMessage?.();
    },
    nextAt: () => first()?.visibleAt,
    async receive(maxWakes, visibilityMs) {
      const now = clock.now();
      const received: Wake[] = [];
      for (let entry = first(); entry && entry.visibleAt <= now; entry = first()) {
        if (received.length === maxWakes) break;
        byTime.pop();
        const { wake, receives } = entry;
        if (receives >= maxReceiveCount) {
          await remove(wake.wakeId);
          continue;
        }
        show({ wake, visibleAt: now + visibilityMs, receives: receives + 1 });
        received.push(wake);
      }
      return received;
    },
    acknowledge: remove,
  };
};
