import { type FifoQueue, openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createMemoryStore } from "../../../lib/local/memory-store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { Timeline } from "../engine/timeline.ts";

/** As in infra/queues.cjs. */
const MAX_RECEIVE_COUNT = 10;

/** The command queue of a run. Its calls take no time: what they take is the caller's affair. */
export interface MessageQueue extends Pick<FifoQueue, "send" | "receive" | "acknowledge"> {
  isEmpty(): Promise<boolean>;
  /** Sends every dead letter back, as a person does. */
  redrive(): Promise<void>;
}

export const openMessageQueue = async (timeline: Timeline): Promise<MessageQueue> => {
  const map = createMemoryStore().map("commands.fifo");
  const random = createSeededRandom(3);
  const options = { map, clock: timeline, random, maxReceiveCount: MAX_RECEIVE_COUNT };
  const queue = await openFifoQueue(options);
  const redriven = new Set<string>();
  return {
    send: (message) => timeline.standStill(() => queue.send(message)),
    receive: (count, visibilityMs) => timeline.standStill(() => queue.receive(count, visibilityMs)),
    acknowledge: (handle) => timeline.standStill(() => queue.acknowledge(handle)),
    isEmpty: async () =>
      (await map.load()).every(
        ([, record]) => !JSON.stringify(record).includes('"kind":"message"'),
      ),
    async redrive() {
      for (const { messageId, body, groupId } of queue.deadLetters()) {
        if (redriven.has(messageId)) continue;
        redriven.add(messageId);
        await queue.send({ body, groupId, deduplicationId: random.uuid() });
      }
    },
  };
};
