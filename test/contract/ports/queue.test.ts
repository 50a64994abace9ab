import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { describeCommandQueueContract } from "./queue-contract.ts";

const VISIBILITY_MS = 60_000;

for (const { storeName, createStore } of storeKinds) {
  describeCommandQueueContract(`in this process, ${storeName}`, async () => {
    const store = await createStore();
    const clock = createVirtualClock();
    const queue = await openFifoQueue({
      map: (await store.open()).map("commands"),
      clock,
      random: createSeededRandom(),
      maxReceiveCount: 3,
    });
    return {
      queue,
      receive: (maxMessages) => queue.receive(maxMessages, VISIBILITY_MS),
      async acknowledge(messages) {
        for (const { receiptHandle } of messages) await queue.acknowledge(receiptHandle);
      },
      giveBack: () => clock.advance(VISIBILITY_MS),
      deadLetters: async () =>
        queue.deadLetters().map(({ body, groupId, deduplicationId }) => ({
          body,
          groupId,
          deduplicationId,
        })),
      isRefusal: (error) =>
        error instanceof Error && error.message.startsWith("the queue refuses the message"),
      remove: store.remove,
    };
  });
}
