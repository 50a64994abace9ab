import { expect, test } from "vitest";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/** A queue on a disk that the test can make full. */
const openOnDisk = async () => {
  const map = createMemoryStore().map("commands");
  const disk = { isFull: false };
  const queue = await openFifoQueue({
    map: {
      load: map.load,
      write: (changes) =>
        disk.isFull ? Promise.reject(new Error("disk full")) : map.write(changes),
    },
    clock: createVirtualClock(),
    random: createSeededRandom(),
    maxReceiveCount: 3,
  });
  return { queue, disk };
};

test("a send that could not be stored rejects, delivers nothing, and can be repeated", async () => {
  const { queue, disk } = await openOnDisk();
  disk.isFull = true;
  const message = { body: "a1", groupId: "a", deduplicationId: "a1" };

  await expect(queue.send(message)).rejects.toThrow("disk full");
  expect(await queue.receive(10, 1000)).toEqual([]);

  disk.isFull = false;
  await queue.send(message);
  expect(await queue.receive(10, 1000)).toMatchObject([{ body: "a1" }]);
});

test("a receive returns nothing if its receive count could not be stored", async () => {
  const { queue, disk } = await openOnDisk();
  await queue.send({ body: "a1", groupId: "a", deduplicationId: "a1" });

  disk.isFull = true;
  await expect(queue.receive(10, 1000)).rejects.toThrow("disk full");

  disk.isFull = false;
  expect(await queue.receive(10, 1000)).toMatchObject([
    { body: "a1", attributes: { ApproximateReceiveCount: "1" } },
  ]);
});

test("an acknowledgement removes the message for good, although the visibility ends while it is stored", async () => {
  const map = createMemoryStore().map("commands");
  const clock = createVirtualClock();
  let onWrite = async (): Promise<void> => {};
  const queue = await openFifoQueue({
    map: { load: map.load, write: (changes) => onWrite().then(() => map.write(changes)) },
    clock,
    random: createSeededRandom(),
    maxReceiveCount: 3,
  });
  await queue.send({ body: "a1", groupId: "a", deduplicationId: "a1" });
  const [a1] = await queue.receive(10, 1000);
  onWrite = async () => {
    await clock.advance(1000);
    queue.nextAt();
  };

  expect(await queue.acknowledge(a1!.receiptHandle)).toBe("acknowledged");

  expect(await queue.receive(10, 1000)).toEqual([]);
});
