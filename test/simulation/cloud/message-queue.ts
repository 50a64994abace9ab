import * as z from "zod";
import type { DurableMap } from "../../../lib/local/durable-map.ts";
import { type FifoQueue, openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createMemoryStore } from "../../../lib/local/memory-store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import type { Timeline } from "../engine/timeline.ts";

const messageSchema = z.object({ kind: z.literal("message") });

/** As in infra/queues.cjs. */
const MAX_RECEIVE_COUNT = 10;

/** The command queue of a run. Its calls take no time: what they take is the caller's affair. */
export interface MessageQueue extends Pick<FifoQueue, "send" | "receive" | "acknowledge"> {
  /** Whether no message waits or is being handled. */
  isEmpty(): boolean;
  /** Sends every dead letter back, as a person does. */
  redrive(): Promise<void>;
}

/** The store of the queue, and the keys of the messages in it. */
const createCountedMap = () => {
  const map = createMemoryStore().map("commands.fifo");
  const messages = new Set<string>();
  const counted: DurableMap = {
    load: map.load,
    async write(changes) {
      for (const change of changes) {
        const isMessage = change.kind === "put" && messageSchema.safeParse(change.value).success;
        if (isMessage) messages.add(change.key);
        else messages.delete(change.key);
      }
      await map.write(changes);
    },
  };
  return { map: counted, messages };
};

export const openMessageQueue = async (timeline: Timeline): Promise<MessageQueue> => {
  const { map, messages } = createCountedMap();
  const random = createSeededRandom(3);
  const options = { map, clock: timeline, random, maxReceiveCount: MAX_RECEIVE_COUNT };
  const queue = await openFifoQueue(options);
  const redriven = new Set<string>();
  return {
    isEmpty: () => messages.size === 0,
    send: (message) => timeline.standStill(() => queue.send(message)),
    receive: (count, visibilityMs) => timeline.standStill(() => queue.receive(count, visibilityMs)),
    acknowledge: (handle) => timeline.standStill(() => queue.acknowledge(handle)),
    async redrive() {
      for (const { messageId, body, groupId } of queue.deadLetters()) {
        if (redriven.has(messageId)) continue;
        redriven.add(messageId);
        await queue.send({ body, groupId, deduplicationId: random.uuid() });
      }
    },
  };
};
