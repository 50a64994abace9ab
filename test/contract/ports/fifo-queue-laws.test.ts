import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import {
  type FifoQueue,
  openFifoQueue,
  type ReceivedMessage,
} from "../../../lib/local/fifo-queue.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const MAX_RECEIVE_COUNT = 3;

interface Seen {
  readonly name: string;
  readonly group: string;
  receives: number;
  isAcknowledged: boolean;
  flight: { readonly receiptHandle: string; readonly until: number } | undefined;
}

/** Model of a queue that only knows which messages were sent, received and acknowledged, and when. */
const createObserver = (now: () => number) => {
  const sent: Seen[] = [];
  const handles: string[] = [];
  const isInFlight = ({ flight }: Seen): boolean => flight !== undefined && flight.until > now();
  const isOver = (seen: Seen): boolean =>
    seen.isAcknowledged || (seen.receives >= MAX_RECEIVE_COUNT && !isInFlight(seen));

  const available = (): readonly Seen[] => {
    const held = new Set(
      sent.filter((seen) => !seen.isAcknowledged && isInFlight(seen)).map(({ group }) => group),
    );
    return sent.filter((seen) => !isOver(seen) && !held.has(seen.group));
  };

  return {
    sent,
    handles,
    wasSent: (name: string, group: string): void => {
      sent.push({ name, group, receives: 0, isAcknowledged: false, flight: undefined });
    },
    /** A receive must return the oldest available messages: none withheld, duplicated, lost or out of order. */
    wasReceived: (
      messages: readonly ReceivedMessage[],
      maxMessages: number,
      visibilityMs: number,
    ): void => {
      const expected = available().slice(0, maxMessages);
      expect(messages.map(({ body }) => body)).toEqual(expected.map(({ name }) => name));
      for (const [index, seen] of expected.entries()) {
        const { receiptHandle, attributes } = messages[index]!;
        seen.receives += 1;
        seen.flight = { receiptHandle, until: now() + visibilityMs };
        handles.push(receiptHandle);
        expect(attributes.ApproximateReceiveCount).toBe(String(seen.receives));
      }
    },
    wasAcknowledged: (receiptHandle: string, answer: "acknowledged" | "stale"): void => {
      const seen = sent.find(
        (each) =>
          !each.isAcknowledged && isInFlight(each) && each.flight?.receiptHandle === receiptHandle,
      );
      expect(answer).toBe(seen === undefined ? "stale" : "acknowledged");
      if (seen !== undefined) seen.isAcknowledged = true;
    },
    restarted: (): void => {
      for (const seen of sent) seen.flight = undefined;
    },
  };
};

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      group: fc.constantFrom("a", "b", "c"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("receive" as const),
      maxMessages: fc.integer({ min: 1, max: 10 }),
      visibilityMs: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("acknowledge" as const), pick: fc.nat(60) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      durationMs: fc.integer({ min: 1, max: 120 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);

test("no sequence of sends, receives, acknowledgements, waits and kills breaks the rules of the queue", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = createVirtualClock();
      const map = createMemoryStore().map("commands");
      const random = createSeededRandom();
      const open = (): Promise<FifoQueue> =>
        openFifoQueue({ map, clock, random, maxReceiveCount: MAX_RECEIVE_COUNT });
      const observer = createObserver(clock.now);
      let queue = await open();

      for (const next of steps) {
        switch (next.kind) {
          case "send": {
            const body = `${next.group}${observer.sent.length}`;
            await queue.send({ body, groupId: next.group, deduplicationId: body });
            observer.wasSent(body, next.group);
            break;
          }
          case "receive": {
            const messages = await queue.receive(next.maxMessages, next.visibilityMs);
            observer.wasReceived(messages, next.maxMessages, next.visibilityMs);
            break;
          }
          case "acknowledge": {
            const handle =
              observer.handles[next.pick % (observer.handles.length + 1)] ?? "never given";
            observer.wasAcknowledged(handle, await queue.acknowledge(handle));
            break;
          }
          case "wait":
            await clock.advance(next.durationMs);
            break;
          case "restart":
            queue = await open();
            observer.restarted();
            break;
        }
      }

      await clock.advance(1000);
      const rest = await queue.receive(100, 1000);
      observer.wasReceived(rest, 100, 1000);
      for (const { receiptHandle } of rest) {
        observer.wasAcknowledged(receiptHandle, await queue.acknowledge(receiptHandle));
      }
      expect(queue.deadLetters().map(({ body }) => body)).toEqual(
        observer.sent.filter(({ isAcknowledged }) => !isAcknowledged).map(({ name }) => name),
      );
    }),
    { numRuns: 300 },
  );
});
