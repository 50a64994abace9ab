import { expect, test } from "vitest";
import {
  type DeadLetterDeps,
  deleteDeadLetters,
  joinDeadLetters,
  listDeadLetters,
  redriveDeadLetters,
} from "../../../lib/admin/dead-letters.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createLocalDeadLetters } from "../../../lib/local/local-dead-letters.ts";
import { updatePolicy } from "../../support/requests.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { contextOf, NOW, OTHER_TEAM } from "./sample-dead-letters.ts";

const EVENT = {
  id: "e1",
  account: OTHER_TEAM,
  source: "team",
  "detail-type": "CommandRequested",
  time: new Date(NOW).toISOString(),
  detail: updatePolicy("by-event"),
};

/** The dead letters of run-commands and of intake, one in each queue. */
const openBoth = async () => {
  const clock = createVirtualClock(NOW);
  const random = createSeededRandom();
  const store = createMemoryStore();
  const openQueue = async (name: "commands" | "requests", body: object) => {
    const map = store.map(name);
    const queue = await openFifoQueue({ map, clock, random, maxReceiveCount: 1 });
    await queue.send({ body: JSON.stringify(body), groupId: "g1", deduplicationId: "d1" });
    await queue.receive(10, 0);
    await queue.receive(10, 0);
    return { queue, deadLetters: createLocalDeadLetters({ queue, clock, name }) };
  };
  const commands = await openQueue("commands", updatePolicy("by-queue"));
  const requests = await openQueue("requests", EVENT);
  const deps: DeadLetterDeps = {
    deadLetters: joinDeadLetters([commands.deadLetters, requests.deadLetters]),
    context: () => contextOf({ now: clock.now() }),
  };
  return { deps, commands: commands.queue, requests: requests.queue };
};

test("dead letters of both queues are listed together, repeatedly", async () => {
  const { deps } = await openBoth();

  for (let look = 0; look < 2; look += 1) {
    const { deadLetters, more } = await listDeadLetters(deps);

    expect(deadLetters.map(({ commandId }) => commandId)).toEqual(["by-queue", "by-event"]);
    expect(more).toBe(0);
  }
});

test("an empty queue, which SQS reports slowly, is not asked again while another has dead letters", async () => {
  const { deps } = await openBoth();
  const { deadLetters: filled } = deps;
  const [letter] = await filled.hold();
  const queue = { ...filled, release: async () => {}, count: async () => 0 };
  let left = 30;
  const holds = { many: 0, none: 0 };
  const many = {
    ...queue,
    async hold() {
      holds.many += 1;
      left -= 1;
      return left < 0 || !letter ? [] : [{ ...letter, messageId: `m${left}` }];
    },
  };
  const none = {
    ...queue,
    async hold() {
      holds.none += 1;
      return [];
    },
  };
  const joined = { ...deps, deadLetters: joinDeadLetters([none, many]) };

  const { deadLetters } = await listDeadLetters(joined);

  expect(deadLetters).toHaveLength(30);
  expect(holds.many).toBeGreaterThan(30);
  expect(holds.none).toBe(2);
});

test("redrive sends each dead letter back to its own queue, an event unchanged", async () => {
  const { deps, commands, requests } = await openBoth();

  expect(await redriveDeadLetters(deps, { kind: "all" })).toMatchObject([
    { outcome: "sent-back" },
    { outcome: "sent-back" },
  ]);

  const bodiesIn = async (queue: typeof commands) =>
    (await queue.receive(10, 1_000)).map(({ body }): unknown => JSON.parse(body));
  expect(await bodiesIn(commands)).toEqual([updatePolicy("by-queue")]);
  expect(await bodiesIn(requests)).toEqual([EVENT]);
});

test("a deletion in one queue leaves the other queue unchanged", async () => {
  const { deps, requests } = await openBoth();
  const { deadLetters } = await listDeadLetters(deps);
  const event = deadLetters.find(({ commandId }) => commandId === "by-event");

  const refused = await deleteDeadLetters(deps, { kind: "ids", ids: [event!.messageId] }, false);
  const deleted = await deleteDeadLetters(deps, { kind: "ids", ids: [event!.messageId] }, true);

  expect(refused).toMatchObject([{ outcome: "kept" }]);
  expect(deleted).toMatchObject([{ outcome: "deleted" }]);
  expect(requests.deadLetters()).toEqual([]);
  expect((await listDeadLetters(deps)).deadLetters).toMatchObject([{ commandId: "by-queue" }]);
});
