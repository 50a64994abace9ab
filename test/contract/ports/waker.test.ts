import { openDelayQueue } from "../../../lib/local/delay-queue.ts";
import { storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { describeWakerContract } from "./waker-contract.ts";

const VISIBILITY_MS = 60_000;

for (const { storeName, createStore } of storeKinds) {
  describeWakerContract(`in this process, ${storeName}`, async () => {
    const store = await createStore();
    const clock = createVirtualClock();
    const map = (await store.open()).map("wakes");
    const random = createSeededRandom();
    const waker = await openDelayQueue({ map, clock, random, maxReceiveCount: 3 });
    return {
      waker,
      clock,
      async wakesUntil(at) {
        await clock.advance(at - clock.now());
        return (await waker.receive(10, VISIBILITY_MS)).length;
      },
      remove: store.remove,
    };
  });
}
