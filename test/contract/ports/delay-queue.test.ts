import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type DelayQueue, openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { type ReopenableStore, storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";

const START = 1_767_225_600_000;
const VISIBILITY_MS = 60_000;

const MAX_RECEIVES = 3;

const receive = (queue: DelayQueue) => queue.receive(10, VISIBILITY_MS);

const instants = async (queue: DelayQueue): Promise<readonly number[]> =>
  (await receive(queue)).map(({ at }) => at);

const acknowledgeAll = async (queue: DelayQueue): Promise<void> => {
  for (const { wakeId } of await receive(queue)) await queue.acknowledge(wakeId);
};

describe.each(storeKinds)("the local wake queue, $storeName", ({ createStore }) => {
  let store: ReopenableStore;
  let clock: VirtualClock;
  let queue: DelayQueue;
  const random = createSeededRandom();

  /** Opens the wake queue. An earlier instance counts as killed. */
  const open = async (): Promise<DelayQueue> =>
    openDelayQueue({
      ...{ map: (await store.open()).map("wakes"), clock, random },
      maxReceiveCount: MAX_RECEIVES,
    });

  beforeEach(async () => {
    store = await createStore();
    const { remove } = store;
    onTestFinished(remove);
    clock = createVirtualClock();
    queue = await open();
  });

  test("delivers a wake signal at its instant and not earlier", async () => {
    await queue.wakeAt(START + 5000, 0);

    await clock.advance(4999);
    expect(await instants(queue)).toEqual([]);
    await clock.advance(1);
    expect(await instants(queue)).toEqual([START + 5000]);
  });

  test("delivers all due wake signals, earliest first", async () => {
    for (const inMs of [3000, 1000, 9000, 2000, 1000]) await queue.wakeAt(START + inMs, 0);

    await clock.advance(3000);

    expect(await instants(queue)).toEqual([START + 1000, START + 1000, START + 2000, START + 3000]);
  });

  test("delivers at most as many at once as asked for", async () => {
    for (const inMs of [0, 1, 2]) await queue.wakeAt(START + inMs, 0);
    await clock.advance(2);

    expect(await queue.receive(2, VISIBILITY_MS)).toHaveLength(2);
    expect(await instants(queue)).toEqual([START + 2]);
  });

  test("delivers a wake signal for more than 15 minutes ahead after 15 minutes", async () => {
    await queue.wakeAt(START + 3_600_000, 0);

    expect(queue.nextAt()).toBe(START + 900_000);
    await clock.advance(900_000);
    expect(await instants(queue)).toEqual([START + 3_600_000]);
  });

  test("drops a wake signal that was received too often", async () => {
    await queue.wakeAt(START, 0);
    for (let receives = 0; receives < MAX_RECEIVES; receives += 1) {
      expect(await instants(queue)).toEqual([START]);
      await clock.advance(VISIBILITY_MS);
    }

    expect(await instants(queue)).toEqual([]);
    expect(queue.nextAt()).toBeUndefined();
  });

  test("reports the instant of its next wake signal", async () => {
    expect(queue.nextAt()).toBeUndefined();

    await queue.wakeAt(START + 2000, 0);
    await queue.wakeAt(START + 1000, 0);
    expect(queue.nextAt()).toBe(START + 1000);

    await clock.advance(1000);
    await receive(queue);
    expect(queue.nextAt()).toBe(START + 2000);

    await clock.advance(1000);
    await receive(queue);
    expect(queue.nextAt()).toBe(START + 61_000);
  });

  test("delivers a wake signal again that was not acknowledged in time", async () => {
    await queue.wakeAt(START, 0);
    await receive(queue);

    await clock.advance(VISIBILITY_MS - 1);
    expect(await instants(queue)).toEqual([]);
    await clock.advance(1);
    expect(await instants(queue)).toEqual([START]);
  });

  test("never delivers an acknowledged wake signal again", async () => {
    await queue.wakeAt(START, 0);
    await queue.wakeAt(START + 1, 0);

    await acknowledgeAll(queue);

    await clock.advance(2 * VISIBILITY_MS);
    expect(await instants(queue)).toEqual([START + 1]);
  });

  test("delivers unacknowledged wake signals again after a kill", async () => {
    await queue.wakeAt(START, 0);
    await acknowledgeAll(queue);
    await queue.wakeAt(START + 1, 0);
    await queue.wakeAt(START + 2, 0);
    await clock.advance(1);
    await receive(queue);

    queue = await open();

    expect(queue.nextAt()).toBe(START + 1);
    await clock.advance(1);
    expect(await instants(queue)).toEqual([START + 1, START + 2]);
  });
});
