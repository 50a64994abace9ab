import * as z from "zod";
import type { DurableMap } from "../../../../lib/local/durable-store.ts";
import { createMemoryStore } from "../../../../lib/local/durable-store.ts";
import { type FifoQueue, openFifoQueue } from "../../../../lib/local/fifo-queue.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import type { VirtualClock } from "../../../support/virtual-clock.ts";
import type { RunLimits } from "../plan/limits.ts";

const messageSchema = z.object({ kind: z.literal("message"), groupId: z.string() });

/** The command queue of a run. Its calls take no time; the caller's machine adds it. */
export interface MessageQueue extends Pick<FifoQueue, "send" | "receive" | "acknowledge"> {
  /** Whether no message is waiting, in flight or a dead letter. */
  isEmpty(): boolean;
  /** Whether a message is ready to be received. */
  isReady(): boolean;
  /** Redrives every dead letter, as an operator does. */
  redrive(): Promise<void>;
}

/** The queue's store, and the group of each message in it. */
const createWatchedMap = () => {
  const map = createMemoryStore().map("commands.fifo");
  const groups = new Map<string, string>();
  const watched: DurableMap = {
    load: map.load,
    async write(changes) {
      for (const change of changes) {
        const message =
          change.kind === "put" ? messageSchema.safeParse(change.value).data : undefined;
        if (message) groups.set(change.key, message.groupId);
        else groups.delete(change.key);
      }
      await map.write(changes);
    },
  };
  return { map: watched, groups };
};

interface Flight {
  readonly groupId: string;
  readonly visibleAt: number;
}

/**
 * @param maxReceiveCount a message that was received so often without acknowledgement becomes a dead
 * letter
 */
export const openMessageQueue = async (
  timeline: VirtualClock,
  maxReceiveCount: number,
  { aws, note }: Pick<RunLimits, "aws" | "note">,
): Promise<MessageQueue> => {
  const { map, groups } = createWatchedMap();
  const random = createSeededRandom(3);
  const { lookAhead, deduplicatesByGroup } = aws.limits;
  const own = { maxReceiveCount, lookAhead, deduplicatesByGroup };
  const queue = await openFifoQueue({ map, clock: timeline, random, ...own });
  /** By receipt handle. */
  const flights = new Map<string, Flight>();
  return {
    isEmpty: () => groups.size === 0 && queue.deadLetters().length === 0,
    isReady() {
      const inFlight = [...flights.values()].filter(({ visibleAt }) => visibleAt > timeline.now());
      const held = new Set(inFlight.map(({ groupId }) => groupId));
      return [...groups.values()].some((groupId) => !held.has(groupId));
    },
    send: (message) =>
      timeline.standStill(async () => {
        await queue.send(message);
        if (queue.size() > lookAhead) note("look-ahead");
      }),
    async receive(count, visibilityMs) {
      const messages = await timeline.standStill(() => queue.receive(count, visibilityMs));
      const visibleAt = timeline.now() + visibilityMs;
      for (const { receiptHandle, attributes } of messages) {
        flights.set(receiptHandle, { groupId: attributes.MessageGroupId, visibleAt });
      }
      return messages;
    },
    async acknowledge(handle) {
      flights.delete(handle);
      return timeline.standStill(() => queue.acknowledge(handle));
    },
    async redrive() {
      for (const { messageId } of queue.deadLetters()) {
        await timeline.standStill(() => queue.redrive(messageId));
      }
    },
  };
};
