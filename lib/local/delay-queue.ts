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
  /** When it was asked for, epoch ms. */
  readonly at: number;
}

export interface DelayQueue extends Waker {
  /** When `takeDue` next has something to give, epoch ms; undefined when no wake waits. */
  nextAt(): number | undefined;
  /** All wakes due now, the earliest first. They come again after `visibilityMs` unless acknowledged. */
  takeDue(visibilityMs: number): readonly Wake[];
  acknowledge(wakes: readonly Wake[]): Promise<void>;
}

const wakeSchema = z.object({ wakeId: z.string(), at: z.number() });

/**
 * The wake queue in this process: at least once, in no promised order, to the millisecond and for
 * any delay. Wakes outlive the process; those taken and not acknowledged come again at the start.
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
