import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import {
  type FifoQueue,
  openFifoQueue,
  type ReceivedMessage,
} from "../../../lib/local/fifo-queue.ts";
import { type ReopenableStore, storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";

const MINUTE_MS = 60_000;

const bodies = (messages: readonly ReceivedMessage[]): readonly string[] =>
  messages.map(({ body }) => body);

/** Sends messages with names such as "a1": group and number. The name is also the id. */
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

/** Promises of the local queue beyond the port: instants, handles and restarts. */
describe.each(storeKinds)("the local FIFO queue, $storeName", ({ createStore }) => {
  let store: ReopenableStore;
  let clock: VirtualClock;
  let queue: FifoQueue;
  const random = createSeededRandom();

  /** Opens the queue. An earlier instance counts as killed. */
  const open = async (): Promise<FifoQueue> => {
    const map = (await store.open()).map("commands");
    return openFifoQueue({ map, clock, random, maxReceiveCount: 3 });
  };

  beforeEach(async () => {
    store = await createStore();
    const { remove } = store;
    onTestFinished(remove);
    clock = createVirtualClock();
    queue = await open();
  });

  test("reports the times of sending and first receive by its clock, and no sender", async () => {
    await sendAll(queue, "a1");
    await clock.advance(1500);

    const [message] = await queue.receive(10, MINUTE_MS);

    expect(message?.attributes).toMatchObject({
      SentTimestamp: "1767225600000",
      SenderId: "000000000000",
      ApproximateFirstReceiveTimestamp: "1767225601500",
    });
  });

  test("hands out several messages of one group together, in the order of sending", async () => {
    await sendAll(queue, "a1", "b1", "a2", "a3");

    expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a1", "b1", "a2", "a3"]);
  });

  test("numbers messages of all groups upwards in the order of sending", async () => {
    await sendAll(queue, "a1", "b1", "a2");

    const numbers = (await queue.receive(10, MINUTE_MS)).map(
      ({ attributes }) => attributes.SequenceNumber,
    );

    expect(numbers).toEqual([...new Set(numbers)].sort());
  });

  test("hands out no more messages than requested", async () => {
    await sendAll(queue, "a1", "b1", "c1");

    expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual(["a1", "b1"]);
    expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual(["c1"]);
    expect(bodies(await queue.receive(2, MINUTE_MS))).toEqual([]);
  });

  test("never hands out a message twice to concurrent consumers", async () => {
    await sendAll(queue, "a1", "b1", "c1", "d1");

    const received = await Promise.all([1, 2, 3].map(() => queue.receive(2, MINUTE_MS)));

    expect(received.map(bodies)).toEqual([["a1", "b1"], ["c1", "d1"], []]);
  });

  test("hands out a message again, before later ones, after its visibility timeout", async () => {
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

  test("does not remove a message by a handle after its visibility timeout", async () => {
    await sendAll(queue, "a1");
    const [late] = await queue.receive(1, MINUTE_MS);
    await clock.advance(MINUTE_MS);

    expect(await queue.acknowledge(late!.receiptHandle)).toBe("stale");

    expect(bodies(await queue.receive(1, MINUTE_MS))).toEqual(["a1"]);
  });

  test("does not remove a message that another consumer received in the meantime", async () => {
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

  test("drops a message with an id of the last 5 minutes, even with another payload", async () => {
    await queue.send({ body: "first", groupId: "a", deduplicationId: "same" });
    await acknowledgeAll(queue, await queue.receive(10, MINUTE_MS));

    await clock.advance(5 * MINUTE_MS - 1);
    await queue.send({ body: "second", groupId: "b", deduplicationId: "same" });
    expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

    await clock.advance(1);
    await queue.send({ body: "third", groupId: "a", deduplicationId: "same" });
    expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["third"]);
  });

  describe("after a kill of its process", () => {
    test("hands out unacknowledged messages in the order of sending", async () => {
      await sendAll(queue, "a1", "a2", "a3");
      await acknowledgeAll(queue, await queue.receive(1, MINUTE_MS));

      queue = await open();
      await sendAll(queue, "a4");

      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2", "a3", "a4"]);
    });

    test("hands out messages in flight at once, and counts the former receive", async () => {
      await sendAll(queue, "a1");
      const [lost] = await queue.receive(1, MINUTE_MS);
      await clock.advance(1000);

      queue = await open();
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
        queue = await open();
      }

      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2"]);
      queue = await open();
      expect(queue.deadLetters()).toMatchObject([{ body: "a1", receiveCount: 3 }]);
    });

    test("still drops ids of the last 5 minutes", async () => {
      await sendAll(queue, "a1");
      await acknowledgeAll(queue, await queue.receive(1, MINUTE_MS));

      queue = await open();
      await sendAll(queue, "a1");
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

      await clock.advance(5 * MINUTE_MS);
      await sendAll(queue, "a1");
      expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a1"]);
    });

    test("continues the sequence numbers even if no earlier message is left", async () => {
      await sendAll(queue, "a1");
      const [former] = await queue.receive(1, MINUTE_MS);
      await acknowledgeAll(queue, [former!]);
      await clock.advance(1);

      queue = await open();
      await sendAll(queue, "a2");
      const [next] = await queue.receive(1, MINUTE_MS);

      const number = next!.attributes.SequenceNumber;
      expect(number > former!.attributes.SequenceNumber).toBe(true);
    });
  });
});

test("reports when a message can be received, and how many there are", async () => {
  const clock = createVirtualClock();
  const queue = await openFifoQueue({
    map: createMemoryStore().map("commands"),
    clock,
    random: createSeededRandom(),
    maxReceiveCount: 3,
  });
  expect(queue.nextAt()).toBeUndefined();
  await sendAll(queue, "a1", "a2");
  expect([queue.nextAt(), queue.size()]).toEqual([clock.now(), 2]);

  const visibleAt = clock.now() + MINUTE_MS;
  const [a1] = await queue.receive(1, MINUTE_MS);
  await clock.advance(1000);
  expect([queue.nextAt(), queue.size()]).toEqual([visibleAt, 2]);

  await acknowledgeAll(queue, [a1!]);
  expect([queue.nextAt(), queue.size()]).toEqual([clock.now(), 1]);
  await queue.receive(1, 2 * MINUTE_MS);
  // Not the time-out of the acknowledged message.
  expect(queue.nextAt()).toBe(clock.now() + 2 * MINUTE_MS);
});

test("sees no group behind the look-ahead while earlier messages fill it", async () => {
  const queue = await openFifoQueue({
    map: createMemoryStore().map("commands"),
    clock: createVirtualClock(),
    random: createSeededRandom(),
    maxReceiveCount: 3,
    lookAhead: 3,
  });
  await sendAll(queue, "a1", "a2", "a3", "b1", "c1");

  const [a1] = await queue.receive(1, MINUTE_MS);
  expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual([]);

  await acknowledgeAll(queue, [a1!]);
  expect(bodies(await queue.receive(10, MINUTE_MS))).toEqual(["a2", "a3", "b1"]);
});

test("the error of a refused message states the limit of SQS", async () => {
  const queue = await openFifoQueue({
    map: createMemoryStore().map("commands"),
    clock: createVirtualClock(),
    random: createSeededRandom(),
    maxReceiveCount: 3,
  });

  await expect(queue.send({ body: "{}", groupId: "", deduplicationId: "d" })).rejects.toThrow(
    "the queue refuses the message: the group id must be 1 to 128 ASCII letters, digits or punctuation marks",
  );
});
