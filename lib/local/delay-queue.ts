import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { Waker } from "../platform/ports/queue.ts";
import type { Random } from "../platform/ports/random.ts";
import type { DurableMap } from "./durable-store.ts";

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

const wakeSchema = z.object({ wakeId: z.string(), at: z.number() });

/**
 * The wake queue of a local run: at-least-once, without a guaranteed order, exact to the millisecond, for
 * any delay. Wakes survive the process; taken and unacknowledged ones are visible again at the next start.
 */
export const openDelayQueue = async (options: DelayQueueOptions): Promise<DelayQueue> => {
  const { map, clock, random } = options;
  const waiting = new Map<string, { readonly wake: Wake; visibleAt: number }>();
  for (const [, value] of await map.load()) {
    const wake = wakeSchema.parse(value);
    waiting.set(wake.wakeId, { wake, visibleAt: wake.at });
  }

  return {
    async wakeAt(at) {
      const wake: Wake = { wakeId: random.uuid(), at };
      await map.write([{ kind: "put", key: wake.wakeId, value: { ...wake } }]);
      waiting.set(wake.wakeId, { wake, visibleAt: at });
    },
    nextAt: () =>
      waiting.size === 0
        ? undefined
        : Math.min(...[...waiting.values()].map(({ visibleAt }) => visibleAt)),
    takeDue(visibilityMs) {
      const now = clock.now();
      const due = [...waiting.values()].filter(({ visibleAt }) => visibleAt <= now);
      for (const entry of due) entry.visibleAt = now + visibilityMs;
      return due.map(({ wake }) => wake).sort((a, b) => a.at - b.at);
    },
    async acknowledge(wakes) {
      await map.write(wakes.map(({ wakeId }) => ({ kind: "delete", key: wakeId })));
      for (const { wakeId } of wakes) waiting.delete(wakeId);
    },
  };
};
