import { openDelayQueue } from "../../lib/local/delay-queue.ts";
import { storeKinds } from "../support/durable-stores.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { describeWakerContract } from "./waker-contract.ts";

for (const { storeName, createStore } of storeKinds) {
  describeWakerContract(storeName, async () => {
    const store = await createStore();
    const clock = createVirtualClock();
    const random = createSeededRandom();
    return {
      clock,
      open: async () => openDelayQueue({ map: (await store.open()).map("wakes"), clock, random }),
      remove: store.remove,
    };
  });
}
