import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type DelayQueue, openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { type ReopenableStore, storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";

const START = 1_767_225_600_000;
const VISIBILITY_MS = 60_000;

const instants = (queue: DelayQueue): readonly number[] =>
  queue.takeDue(VISIBILITY_MS).map(({ at }) => at);

describe.each(storeKinds)("the local wake queue, $storeName", ({ createStore }) => {
  let store: ReopenableStore;
  let clock: VirtualClock;
  let queue: DelayQueue;
  const random = createSeededRandom();

  /** Opens the wake queue. An earlier instance counts as killed. */
  const open = async (): Promise<DelayQueue> =>
    openDelayQueue({ map: (await store.open()).map("wakes"), clock, random });

  beforeEach(async () => {
    store = await createStore();
    const { remove } = store;
    onTestFinished(remove);
    clock = createVirtualClock();
    queue = await open();
  });

  test("delivers a wake signal at its instant and not earlier", async () => {
    await queue.wakeAt(START + 5000);

    await clock.advance(4999);
    expect(instants(queue)).toEqual([]);
    await clock.advance(1);
    expect(instants(queue)).toEqual([START + 5000]);
  });

  test("delivers all due wake signals, earliest first", async () => {
    for (const inMs of [3000, 1000, 9000, 2000, 1000]) await queue.wakeAt(START + inMs);

    await clock.advance(3000);

    expect(instants(queue)).toEqual([START + 1000, START + 1000, START + 2000, START + 3000]);
  });

  test("reports the instant of its next wake signal", async () => {
    expect(queue.nextAt()).toBeUndefined();

    await queue.wakeAt(START + 2000);
    await queue.wakeAt(START + 1000);
    expect(queue.nextAt()).toBe(START + 1000);

    await clock.advance(1000);
    queue.takeDue(VISIBILITY_MS);
    expect(queue.nextAt()).toBe(START + 2000);

    await clock.advance(1000);
    queue.takeDue(VISIBILITY_MS);
    expect(queue.nextAt()).toBe(START + 61_000);
  });

  test("delivers a wake signal again that was not acknowledged in time", async () => {
    await queue.wakeAt(START);
    queue.takeDue(VISIBILITY_MS);

    await clock.advance(VISIBILITY_MS - 1);
    expect(instants(queue)).toEqual([]);
    await clock.advance(1);
    expect(instants(queue)).toEqual([START]);
  });

  test("never delivers an acknowledged wake signal again", async () => {
    await queue.wakeAt(START);
    await queue.wakeAt(START + 1);

    await queue.acknowledge(queue.takeDue(VISIBILITY_MS));

    await clock.advance(2 * VISIBILITY_MS);
    expect(instants(queue)).toEqual([START + 1]);
  });

  test("delivers unacknowledged wake signals again after a kill", async () => {
    await queue.wakeAt(START);
    await queue.acknowledge(queue.takeDue(VISIBILITY_MS));
    await queue.wakeAt(START + 1);
    await queue.wakeAt(START + 2);
    await clock.advance(1);
    queue.takeDue(VISIBILITY_MS);

    queue = await open();

    expect(queue.nextAt()).toBe(START + 1);
    await clock.advance(1);
    expect(instants(queue)).toEqual([START + 1, START + 2]);
  });
});
