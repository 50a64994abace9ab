import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { ReceivedMessage } from "../../../lib/local/fifo-queue.ts";
import type { CommandMessage, CommandQueue } from "../../../lib/platform/ports/queue.ts";

export interface CommandQueueHarness {
  readonly queue: CommandQueue;
  /** Receives up to ten available messages. They stay invisible until acknowledged or released. */
  receive(maxMessages: number): Promise<readonly ReceivedMessage[]>;
  acknowledge(messages: readonly ReceivedMessage[]): Promise<void>;
  /** Waits for the visibility timeout of received messages. */
  giveBack(messages: readonly ReceivedMessage[]): Promise<void>;
  /** Messages that were received three times and not acknowledged. */
  deadLetters(): Promise<readonly CommandMessage[]>;
  /** Whether the queue refuses the message, and for no other reason. */
  isRefusal(error: unknown): boolean;
  remove(): Promise<void>;
}

const LARGEST_BODY = "x".repeat(1024 * 1024);

const bodies = (messages: readonly ReceivedMessage[]): readonly string[] =>
  messages.map(({ body }) => body);

/** The contract of the command queue, for one adapter. `create` returns an empty queue. */
export const describeCommandQueueContract = (
  name: string,
  create: () => Promise<CommandQueueHarness>,
): void => {
  describe(`a command queue (${name})`, () => {
    let harness: CommandQueueHarness;
    beforeEach(async () => {
      harness = await create();
      const { remove } = harness;
      onTestFinished(remove);
    });

    /** Sends messages with names such as "a1": group and number. The name is also the id. */
    const sendAll = async (...names: readonly string[]): Promise<void> => {
      for (const each of names) {
        await harness.queue.send({ body: each, groupId: each.slice(0, 1), deduplicationId: each });
      }
    };

    /** Receives and acknowledges messages until the queue is empty. */
    const drain = async (): Promise<readonly ReceivedMessage[]> => {
      const received = await harness.receive(10);
      if (received.length === 0) return [];
      await harness.acknowledge(received);
      return [...received, ...(await drain())];
    };

    test("hands out a message unchanged, with the attributes of SQS", async () => {
      const body = '{"text":"ünï €😀\\n"}\t\r\n';

      await harness.queue.send({ body, groupId: "pool/1", deduplicationId: "event-1" });

      expect(await harness.receive(10)).toMatchObject([
        {
          messageId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
          receiptHandle: expect.stringMatching(/^\S+$/),
          body,
          attributes: {
            ApproximateReceiveCount: "1",
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            SenderId: expect.stringMatching(/^\S+$/),
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
            SequenceNumber: expect.stringMatching(/^\d{20}$/),
            MessageDeduplicationId: "event-1",
            MessageGroupId: "pool/1",
          },
        },
      ]);
    });

    test("accepts the largest body, and the longest ids with every allowed character", async () => {
      const groupId = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~".padEnd(128, "g");
      const deduplicationId = groupId.replaceAll("g", "d");

      await harness.queue.send({ body: LARGEST_BODY, groupId, deduplicationId });

      const [message] = await harness.receive(1);
      expect(message?.body === LARGEST_BODY).toBe(true);
      expect(message?.attributes).toMatchObject({
        MessageGroupId: groupId,
        MessageDeduplicationId: deduplicationId,
      });
    });

    test("hands out the messages of each group in the order of sending", async () => {
      await sendAll("a1", "b1", "a2", "a3", "b2");

      const received = bodies(await drain());

      expect(received.filter((body) => body.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
      expect(received.filter((body) => body.startsWith("b"))).toEqual(["b1", "b2"]);
    });

    test("numbers the messages of a group upwards in the order of sending", async () => {
      await sendAll("a1", "a2", "a3");

      const numbers = (await drain()).map(({ attributes }) => attributes.SequenceNumber);

      expect(numbers).toHaveLength(3);
      expect(numbers).toEqual([...new Set(numbers)].sort());
    });

    test("blocks only the group of a message in flight", async () => {
      await sendAll("a1", "a2");
      expect(bodies(await harness.receive(1))).toEqual(["a1"]);
      await sendAll("b1", "a3");

      expect(bodies(await harness.receive(10))).toEqual(["b1"]);
    });

    test("blocks a group until all its messages in flight are acknowledged", async () => {
      await sendAll("a1", "a2", "a3");
      const [first, second] = await harness.receive(2);

      await harness.acknowledge([first!]);
      expect(bodies(await harness.receive(10))).toEqual([]);

      await harness.acknowledge([second!]);
      expect(bodies(await harness.receive(10))).toEqual(["a3"]);
    });

    test("hands out a message again, before later ones, if it was not acknowledged in time", async () => {
      await sendAll("a1", "a2");
      const [first] = await harness.receive(1);

      await harness.giveBack([first!]);
      const again = await harness.receive(10);

      expect(bodies(again)).toEqual(["a1", "a2"]);
      expect(again[0]?.messageId).toBe(first?.messageId);
      expect(again[0]?.receiptHandle).not.toBe(first?.receiptHandle);
      expect(again[0]?.attributes).toMatchObject({
        ApproximateReceiveCount: "2",
        SentTimestamp: first?.attributes.SentTimestamp,
        ApproximateFirstReceiveTimestamp: first?.attributes.ApproximateFirstReceiveTimestamp,
      });
    });

    test.each([
      { former: "waits", isDrained: false, handedOut: ["first"] },
      { former: "was acknowledged", isDrained: true, handedOut: [] },
    ])(
      "drops a message with the id of one that $former, even with another payload and group",
      async ({ isDrained, handedOut }) => {
        await harness.queue.send({ body: "first", groupId: "a", deduplicationId: "same" });
        if (isDrained) await drain();

        await harness.queue.send({ body: "second", groupId: "b", deduplicationId: "same" });

        expect(bodies(await drain())).toEqual(handedOut);
      },
    );

    test("accepts the same payload twice under two ids", async () => {
      await harness.queue.send({ body: "same", groupId: "a", deduplicationId: "first" });
      await harness.queue.send({ body: "same", groupId: "a", deduplicationId: "second" });

      expect(bodies(await drain())).toEqual(["same", "same"]);
    });

    test("makes a message a dead letter after three receives and continues with its group", async () => {
      await sendAll("a1", "a2");
      for (let receive = 1; receive <= 3; receive += 1) {
        const received = await harness.receive(1);
        expect(bodies(received)).toEqual(["a1"]);
        await harness.giveBack(received);
      }
      expect(await harness.deadLetters()).toEqual([]);

      expect(bodies(await harness.receive(10))).toEqual(["a2"]);

      expect(await harness.deadLetters()).toEqual([
        { body: "a1", groupId: "a", deduplicationId: "a1" },
      ]);
    });

    test.each([
      { case: "an empty body", change: { body: "" } },
      { case: "a character that XML does not allow", change: { body: "a\u{FFFE}" } },
      { case: "more than 1 MiB", change: { body: `${LARGEST_BODY}x` } },
      { case: "more than 1 MiB in UTF-8", change: { body: "€".repeat(400_000) } },
      { case: "an empty group id", change: { groupId: "" } },
      { case: "a group id of 129 characters", change: { groupId: "g".repeat(129) } },
      { case: "a group id with a space", change: { groupId: "a b" } },
      { case: "an empty deduplication id", change: { deduplicationId: "" } },
      { case: "a deduplication id with an umlaut", change: { deduplicationId: "ü" } },
    ])("refuses a message with $case", async ({ change }) => {
      const message = { body: "{}", groupId: "a", deduplicationId: "d", ...change };

      const error = await harness.queue.send(message).catch((caught: unknown) => caught);

      expect(harness.isRefusal(error)).toBe(true);
      expect(await harness.receive(10)).toEqual([]);
    });
  });
};
