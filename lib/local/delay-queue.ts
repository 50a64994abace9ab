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
}

export interface Wake {
  readonly wakeId: string;
  /** Requested time, epoch ms. */
  readonly at: number;
}

export interface DelayQueue extends Waker {
  /** Instant at which the next wake is visible, epoch ms; undefined without a waiting wake. */
  nextAt(): number | undefined;
  /** Takes all wakes due now, the earliest first. Unacknowledged ones are visible again after `visibilityMs`. */
  takeDue(visibilityMs: number): readonly Wake[];
  acknowledge(wakes: readonly Wake[]): Promise<void>;
}

interface Entry {
  readonly wake: Wake;
  readonly visibleAt: number;
}

const wakeSchema = z.object({ wakeId: z.string(), at: z.number() });

/**
 * The wake queue of a local run: at-least-once, without a guaranteed order, exact to the millisecond, for
 * any delay. Wakes survive the process; taken and unacknowledged ones are visible again at the next start.
 */
export const openDelayQueue = async (options: DelayQueueOptions): Promise<DelayQueue> => {
  const { map, clock, random } = options;
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
  for (const [, value] of await map.load()) {
    const wake = wakeSchema.parse(value);
    show({ wake, visibleAt: wake.at });
  }

  return {
    async wakeAt(at) {
      const wake: Wake = { wakeId: random.uuid(), at };
      await map.write([{ kind: "put", key: wake.wakeId, value: { ...wake } }]);
      show({ wake, visibleAt: at });
    },
    nextAt: () => first()?.visibleAt,
    takeDue(visibilityMs) {
      const now = clock.now();
      const due: Wake[] = [];
      for (let entry = first(); entry && entry.visibleAt <= now; entry = first()) {
        byTime.pop();
        due.push(entry.wake);
      }
      for (const wake of due) show({ wake, visibleAt: now + visibilityMs });
      return due.sort((a, b) => a.at - b.at);
    },
    async acknowledge(wakes) {
      await map.write(wakes.map(({ wakeId }) => ({ kind: "delete", key: wakeId })));
      for (const { wakeId } of wakes) visibleAt.delete(wakeId);
    },
  };
};
