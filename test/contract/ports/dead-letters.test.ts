import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createLocalDeadLetters } from "../../../lib/local/local-dead-letters.ts";
import { type ReopenableStore, storeKinds } from "../../support/durable-stores.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { describeDeadLettersContract } from "./dead-letters-contract.ts";

const VISIBILITY_MS = 60_000;
const HOLD_MS = 60_000;

/** A queue that makes a message a dead letter after one receive. */
const createHarness = async (createStore: () => Promise<ReopenableStore>) => {
  const store = await createStore();
  const clock = createVirtualClock();
  const random = createSeededRandom();
  const open = async () => {
    const map = (await store.open()).map("commands");
    const queue = await openFifoQueue({ map, clock, random, maxReceiveCount: 1 });
    return { queue, deadLetters: createLocalDeadLetters({ queue, clock, name: "commands" }) };
  };
  const opened = await open();
  return {
    ...opened,
    clock,
    open,
    async bury(body: string, groupId: string) {
      await opened.queue.send({
        body,
        groupId,
        deduplicationId: body.slice(0, 2).replace("{", "x"),
      });
      await opened.queue.receive(10, 0);
      await opened.queue.receive(10, 0);
    },
    received: async () =>
      (await opened.queue.receive(10, VISIBILITY_MS)).map(({ body, attributes }) => ({
        body,
        groupId: attributes.MessageGroupId,
      })),
    remove: store.remove,
  };
};

for (const { storeName, createStore } of storeKinds) {
  describeDeadLettersContract(`in this process, ${storeName}`, () => createHarness(createStore));
}

/** Promises of the local adapter beyond the port. */
describe.each(storeKinds)("the local dead letters, $storeName", ({ createStore }) => {
  let harness: Awaited<ReturnType<typeof createHarness>>;
  beforeEach(async () => {
    harness = await createHarness(createStore);
    onTestFinished(harness.remove);
  });

  test("report when a message was sent, and how often it was received", async () => {
    await harness.clock.advance(1_500);
    await harness.bury("a1", "a");

    expect(await harness.deadLetters.hold()).toMatchObject([
      { arrivedAt: Date.UTC(2026, 0, 1, 0, 0, 1, 500), receiveCount: 1 },
    ]);
  });

  test("are free again one minute after their holder received them", async () => {
    await harness.bury("a1", "a");
    await harness.deadLetters.hold();

    await harness.clock.advance(HOLD_MS - 1);
    expect(await harness.deadLetters.hold()).toEqual([]);
    await harness.clock.advance(1);

    expect(await harness.deadLetters.hold()).toMatchObject([{ body: "a1" }]);
  });

  test("held by two admin clients at once are redriven or deleted only once", async () => {
    await harness.bury("a1", "a");
    const [letter] = await harness.deadLetters.hold();

    const done = await Promise.all([
      harness.deadLetters.sendBack(letter!),
      harness.deadLetters.sendBack(letter!),
      harness.deadLetters.remove(letter!),
    ]);

    expect(done).toEqual([{ kind: "sent-back" }, { kind: "gone" }, "gone"]);
    expect(await harness.received()).toEqual([{ body: "a1", groupId: "a" }]);
  });

  test("are only in the queue after a redrive and a restart", async () => {
    await harness.bury("a1", "a");
    const [letter] = await harness.deadLetters.hold();
    await harness.deadLetters.sendBack(letter!);

    const { queue, deadLetters } = await harness.open();

    expect(await deadLetters.count()).toBe(0);
    expect(await queue.receive(10, VISIBILITY_MS)).toMatchObject([
      { body: "a1", attributes: { ApproximateReceiveCount: "1", MessageGroupId: "a" } },
    ]);
  });

  test("stay deleted after a restart", async () => {
    await harness.bury("a1", "a");
    await harness.bury("b1", "b");
    const [letter] = await harness.deadLetters.hold();
    await harness.deadLetters.remove(letter!);

    const { deadLetters } = await harness.open();

    expect(await deadLetters.hold()).toMatchObject([{ body: "b1" }]);
  });
});
