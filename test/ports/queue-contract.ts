import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { FifoQueue, ReceivedMessage } from "../../lib/local/fifo-queue.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";

export interface QueueHarness {
  readonly clock: VirtualClock;
  /** Opens the queue; whoever had it open before counts as killed. Three receives are allowed. */
  open(): Promise<FifoQueue>;
  remove(): Promise<void>;
}

const MINUTE_MS = 60_000;

const bodies = (messages: readonly ReceivedMessage[]): readonly string[] =>
  messages.map(({ body }) => body);

/** Sends messages named `<group><number>`, such as "a1", each with its name as its id. */
const sendAll = async (queue: FifoQueue, ...names: readonly string[]): Promise<void> => {
  for (const name of names) {
    await queue.send({ body: name, groupId: name.slice(0, 1), deduplicationId: name });
  }
};

const acknowledgeAll = async (
  queue: FifoQueue,
  messages: readonly ReceivedMessage[],
): Promise<void> => {
  for (const { receiptHandle } of messages) await queue.acknowledge(receiptHandle);
};

/** Every law of the command queue, for one way of keeping it. `create` gives an empty one. */
export const describeQueueContract = (name: string, create: () => Promise<QueueHarness>): void => {
  describe(`a FIFO queue (${name})`, () => {
    let harness: QueueHarness;
    let clock: VirtualClock;
    let queue: FifoQueue;
    beforeEach(async () => {
      harness = await create();
      const { remove } = harness;
      onTestFinished(remove);
      clock = harness.clock;
      queue = await harness.open();
    });

    test("hands a message out as it was sent, with the attributes of SQS", async () => {
      await queue.send({ body: '{"text":"ünï"}', groupId: "pool/1", deduplicationId: "event-1" });
      await clock.advance(1500);

      const [message] = await queue.receive(10, MINUTE_MS);

      expect(message).toEqual({
        messageId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        receiptHandle: expect.stringMatching(/^\S+$/),
        body: '{"text":"ünï"}',
        attributes: {
          ApproximateReceiveCount: "1",
          SentTimestamp: "1767225600000",
          SenderId: "000000000000",
          ApproximateFirstReceiveTimestamp: "1767225601500",
          SequenceNumber: expect.stringMatching(/^\d{20}$/),
          MessageDeduplicationId: "event-1",
          MessageGroupId: "pool/1",
        },
      });
    });

    test("hands out several messages of one group together, in the order of sending", async () => {
      await sendAll(queue, "a1", "b1", "a2", "a3");

      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a1", "b1", "a2", "a3"]);
    });

    test("numbers messages upwards in the order of sending", async () => {
      await sendAll(queue, "a1", "b1", "a2");

      const numbers = (await queue.receive(10, MINUTE_MS)).map(
        ({ attributes }) => attributes.SequenceNumber,
      );

      expect(numbers).toEqual([...new Set(numbers)].sort());
    });

    test("hands out no more than was asked for", async () => {
      await sendAll(queue, "a1", "b1", "c1");

      expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual(["a1", "b1"]);
      expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual(["c1"]);
      expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual([]);
    });

    test("holds a group back while one of its messages is invisible, and no other group", async () => {
      await sendAll(queue, "a1", "a2");
      await queue.receive(1, MINUTE_MS);
      await sendAll(queue, "b1", "a3");

      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["b1"]);
    });

    test("holds a group back until all its invisible messages are acknowledged", async () => {
      await sendAll(queue, "a1", "a2", "a3");
      const [first, second] = await queue.receive(2, MINUTE_MS);

      await acknowledgeAll(queue, [first!]);
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

      await acknowledgeAll(queue, [second!]);
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a3"]);
    });

    test("never hands out a message twice to consumers that ask at the same time", async () => {
      await sendAll(queue, "a1", "b1", "c1", "d1");

      const received = await Promise.all([1, 2, 3].map(() => queue.receive(2, MINUTE_MS)));

      expect(received.map(bodies)).toEqual([["a1", "b1"], ["c1", "d1"], []]);
    });

    test("hands a message out again, before the later ones, when its visibility ran out", async () => {
      await sendAll(queue, "a1", "a2");
      const [first] = await queue.receive(1, MINUTE_MS);

      await clock.advance(MINUTE_MS - 1);
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);
      await clock.advance(1);
      const again = await queue.receive(10, MINUTE_MS);

      expect(bodies(again)).toEqual(["a1", "a2"]);
      expect(again[0]?.messageId).toBe(first?.messageId);
      expect(again[0]?.receiptHandle).not.toBe(first?.receiptHandle);
      expect(again[0]?.attributes).toMatchObject({
        ApproximateReceiveCount: "2",
        SentTimestamp: "1767225600000",
        ApproximateFirstReceiveTimestamp: "1767225600000",
      });
    });

    test("does not remove a message by a handle whose visibility ran out", async () => {
      await sendAll(queue, "a1");
      const [late] = await queue.receive(1, MINUTE_MS);
      await clock.advance(MINUTE_MS);

      expect(await queue.acknowledge(late!.receiptHandle)).toBe("stale");

      expect(bodies(await queue.receive(1, MINUTE_MS))).toEqual(["a1"]);
    });

    test("does not remove a message that somebody else received in the meantime", async () => {
      await sendAll(queue, "a1");
      const [late] = await queue.receive(1, MINUTE_MS);
      await clock.advance(MINUTE_MS);
      await queue.receive(1, MINUTE_MS);

      expect(await queue.acknowledge(late!.receiptHandle)).toBe("stale");

      await clock.advance(MINUTE_MS);
      expect(bodies(await queue.receive(1, MINUTE_MS))).toEqual(["a1"]);
    });

    test("removes an acknowledged message for good", async () => {
      await sendAll(queue, "a1");
      const [message] = await queue.receive(1, MINUTE_MS);

      expect(await queue.acknowledge(message!.receiptHandle)).toBe("acknowledged");
      expect(await queue.acknowledge(message!.receiptHandle)).toBe("stale");

      await clock.advance(MINUTE_MS);
      expect(bodies(await queue.receive(1, MINUTE_MS))).toEqual([]);
    });

    test("drops a message whose id was seen in the last 5 minutes, another payload included", async () => {
      await queue.send({ body: "first", groupId: "a", deduplicationId: "same" });
      await acknowledgeAll(queue, await queue.receive(10, MINUTE_MS));

      await clock.advance(5 * MINUTE_MS - 1);
      await queue.send({ body: "second", groupId: "b", deduplicationId: "same" });
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

      await clock.advance(1);
      await queue.send({ body: "third", groupId: "a", deduplicationId: "same" });
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["third"]);
    });

    test("makes a message that was received three times a dead letter and goes on", async () => {
      await sendAll(queue, "a1");
      for (let receive = 1; receive <= 3; receive += 1) {
        expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a1"]);
        await clock.advance(MINUTE_MS);
      }
      await sendAll(queue, "a2");
      expect(queue.deadLetters()).toEqual([]);

      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2"]);

      expect(queue.deadLetters()).toMatchObject([
        { body: "a1", groupId: "a", deduplicationId: "a1", receiveCount: 3 },
      ]);
    });

    test.each([
      { case: "an empty body", change: { body: "" } },
      { case: "a character that XML does not allow", change: { body: "a\u{FFFE}" } },
      { case: "more than 1 MiB", change: { body: "x".repeat(1024 * 1024 + 1) } },
      { case: "an empty group id", change: { groupId: "" } },
      { case: "a group id of 129 characters", change: { groupId: "g".repeat(129) } },
      { case: "a group id with a space", change: { groupId: "a b" } },
      { case: "a deduplication id with an umlaut", change: { deduplicationId: "ü" } },
    ])("refuses a message with $case, as SQS does", async ({ change }) => {
      const message = { body: "{}", groupId: "a", deduplicationId: "d", ...change };

      await expect(queue.send(message)).rejects.toThrow("the queue takes no such message");

      expect(await queue.receive(10, MINUTE_MS)).toEqual([]);
    });

    describe("after its process was killed", () => {
      test("hands out what was not acknowledged, in the order of sending", async () => {
        await sendAll(queue, "a1", "a2", "a3");
        await acknowledgeAll(queue, await queue.receive(1, MINUTE_MS));

        queue = await harness.open();
        await sendAll(queue, "a4");

        expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2", "a3", "a4"]);
      });

      test("hands out at once what was in flight, and counts that receive", async () => {
        await sendAll(queue, "a1");
        const [lost] = await queue.receive(1, MINUTE_MS);
        await clock.advance(1000);

        queue = await harness.open();
        const [message] = await queue.receive(1, MINUTE_MS);

        expect(message?.messageId).toBe(lost?.messageId);
        expect(message?.attributes).toMatchObject({
          ApproximateReceiveCount: "2",
          ApproximateFirstReceiveTimestamp: "1767225600000",
        });
        expect(await queue.acknowledge(lost!.receiptHandle)).toBe("stale");
      });

      test("makes a message that kills its consumer a dead letter", async () => {
        await sendAll(queue, "a1", "a2");
        for (let death = 1; death <= 3; death += 1) {
          await queue.receive(1, MINUTE_MS);
          queue = await harness.open();
        }

        expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2"]);
        queue = await harness.open();
        expect(queue.deadLetters()).toMatchObject([{ body: "a1", receiveCount: 3 }]);
      });

      test("still knows the ids of the last 5 minutes", async () => {
        await sendAll(queue, "a1");
        await acknowledgeAll(queue, await queue.receive(1, MINUTE_MS));

        queue = await harness.open();
        await sendAll(queue, "a1");
        expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

        await clock.advance(5 * MINUTE_MS);
        await sendAll(queue, "a1");
        expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a1"]);
      });

      test("keeps numbering upwards although no former message is left", async () => {
        await sendAll(queue, "a1");
        const [former] = await queue.receive(1, MINUTE_MS);
        await acknowledgeAll(queue, [former!]);
        await clock.advance(1);

        queue = await harness.open();
        await sendAll(queue, "a2");
        const [next] = await queue.receive(1, MINUTE_MS);

        const number = next!.attributes.SequenceNumber;
        expect(number > former!.attributes.SequenceNumber).toBe(true);
      });
    });
  });
};
