import type { Clock } from "../platform/ports/clock.ts";
import type { DeadLetter, DeadLetters } from "../platform/ports/dead-letters.ts";
import type { FifoQueue } from "./fifo-queue.ts";

const HOLD_MS = 60_000;
const MOST_AT_ONCE = 10;

export interface LocalDeadLettersOptions {
  readonly queue: FifoQueue;
  readonly name: DeadLetter["queue"];
  readonly clock: Clock;
}

/**
 * The dead letters of a local queue. A redrive is one write, so a message is never in both places. Holds
 * end with the process.
 */
export const createLocalDeadLetters = (options: LocalDeadLettersOptions): DeadLetters => {
  const { queue, name, clock } = options;
  const heldUntil = new Map<string, number>();

  return {
    async hold() {
      const now = clock.now();
      for (const [id, until] of heldUntil) if (until <= now) heldUntil.delete(id);
      const free = queue.deadLetters().filter(({ messageId }) => !heldUntil.has(messageId));
      return free
        .slice(0, MOST_AT_ONCE)
        .map(({ messageId, body, groupId, sentAt, receiveCount }) => {
          heldUntil.set(messageId, now + HOLD_MS);
          return {
            messageId,
            queue: name,
            body,
            // Each message of `requests` has a group of its own, without a meaning.
            groupId: name === "requests" ? undefined : groupId,
            arrivedAt: sentAt,
            receiveCount,
            hold: messageId,
          };
        });
    },
    async release(letters) {
      for (const { messageId } of letters) heldUntil.delete(messageId);
    },
    count: async () => queue.deadLetters().length,
    async sendBack({ messageId }) {
      const done = await queue.redrive(messageId);
      return { kind: done === "gone" ? "gone" : "sent-back" };
    },
    remove: ({ messageId }) => queue.removeDeadLetter(messageId),
  };
};
