import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { type AwsLimits, awsLimitsOf, createRate } from "../../../lib/local/aws-limits.ts";
import { createMemoryStore } from "../../../lib/local/durable-store.ts";
import { createLedgerLimits, type UsedUnits } from "../../../lib/local/dynamodb-limits.ts";
import { openFifoQueue } from "../../../lib/local/fifo-queue.ts";
import { createLimitedAws, createRetryingPorts } from "../../../lib/local/limited-aws.ts";
import type { BusEntry } from "../../../lib/platform/ports/bus.ts";
import type { Ledger, LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import type { CommandMessage } from "../../../lib/platform/ports/queue.ts";
import { incompressible } from "../../support/incompressible.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";

let clock: VirtualClock;
let throttled: string[];

beforeEach(() => {
  clock = createVirtualClock();
  throttled = [];
});

const awsWith = (limits: Partial<AwsLimits>) =>
  createLimitedAws({ ...awsLimitsOf(), ...limits }, clock, (limit) => throttled.push(limit));

const item = (key: string, over: Partial<LedgerItem> = {}): LedgerItem => ({
  key,
  version: 1,
  value: { state: "open" },
  ...over,
});

/** Numbers from 1 to the first of them that fails, or to 1,000. */
const untilThrottled = async (call: (number: number) => Promise<unknown>): Promise<number> => {
  for (let number = 1; number <= 1_000; number += 1) {
    const isDone = await call(number).then(
      () => true,
      () => false,
    );
    if (!isDone) return number - 1;
  }
  return 1_000;
};

describe("a rate", () => {
  const calls = fc.array(
    fc.record({
      waitMs: fc.integer({ min: 0, max: 1_500 }),
      units: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 80 },
  );

  test.each([
    { kind: "calls of one unit", most: 1 },
    { kind: "calls of up to nine units", most: 9 },
  ])(
    "grants $kind no more than the limit in any seconds, but for the last call",
    async ({ most }) => {
      await fc.assert(
        fc.asyncProperty(calls, fc.integer({ min: 1, max: 5 }), async (steps, limit) => {
          const clock = createVirtualClock();
          const rate = createRate(clock, () => limit);
          const used = new Map<number, number>();
          for (const { waitMs, units } of steps) {
            await clock.advance(waitMs);
            if (!rate.isOpen("key")) continue;
            const cost = Math.min(units, most);
            rate.charge("key", cost);
            const second = Math.floor(clock.now() / 1_000);
            used.set(second, (used.get(second) ?? 0) + cost);
          }
          const seconds = [...used.keys()];
          for (const from of seconds) {
            for (const to of seconds.filter((second) => second >= from)) {
              const sum = seconds
                .filter((second) => second >= from && second <= to)
                .reduce((total, second) => total + (used.get(second) ?? 0), 0);
              expect(sum).toBeLessThanOrEqual((to - from + 1) * limit + most - 1);
            }
          }
        }),
      );
    },
  );

  test("counts keys apart, and refuses nothing below the limit", async () => {
    const rate = createRate(clock, () => 2);
    for (const key of ["a", "a", "b"]) rate.charge(key, 1);

    expect([rate.isOpen("a"), rate.isOpen("b")]).toEqual([false, true]);
    await clock.advance(1_000);
    expect(rate.isOpen("a")).toBe(true);
  });
});

describe("DynamoDB", () => {
  const ledgerWith = (limits: Partial<AwsLimits>, store: Ledger = createMemoryLedger()): Ledger =>
    awsWith(limits).ledger(store);

  test("grants 1,000 writes and 3,000 reads a second to a partition", async () => {
    const ledger = ledgerWith({});
    const writes = await untilThrottled((version) => ledger.write(item("a", { version })));
    expect(writes).toBe(1_000);
    await expect(ledger.write(item("a", { version: 1_001 }))).rejects.toThrow("item writes");
    await expect(ledger.write(item("b"))).resolves.toBe("written");

    for (let read = 1; read <= 3_000; read += 1) await ledger.read("a");
    await expect(ledger.read("a")).rejects.toThrow("item reads");
    await clock.advance(1_000);
    await expect(ledger.read("a")).resolves.toBeDefined();
  });

  test("counts a write unit for each kB of the larger item, and a read unit for each 4 kB", async () => {
    const ledger = ledgerWith({ writeUnits: 12, readUnits: 6 });
    const value = { text: incompressible(3_900) };
    await ledger.write(item("a", { value }));
    await ledger.write(item("a", { version: 2 }));
    // 4 units, 4 units of the replaced item, and then 1 each.
    expect(await untilThrottled((n) => ledger.write(item("a", { version: n + 2 })))).toBe(4);

    await ledger.write(item("b", { value: { text: incompressible(8_500) } }));
    expect(await untilThrottled(() => ledger.read("b"))).toBe(2);
  });

  test("reports the units of each call, and a failed condition without its indexes", async () => {
    const used: UsedUnits[] = [];
    const limits = { ...awsLimitsOf(), writeUnits: Infinity, readUnits: Infinity };
    const ledger = createLedgerLimits({ limits, clock, onThrottled: () => {} })(
      createMemoryLedger(),
      (units) => used.push(units),
    );
    const value = { text: incompressible(4_500) };
    await ledger.write(item("a", { dueAt: 1, value }));
    await ledger.write(item("a", { dueAt: 2, value }));
    await ledger.write(item("a", { version: 2, dueAt: 2, value }));
    await ledger.read("a");
    await ledger.listDue(5, 10, 0);
    expect(used).toEqual([
      { limit: "item writes", units: 5, key: "a" },
      { limit: "due index writes", units: 1, key: "a" },
      { limit: "item writes", units: 5, key: "a" },
      { limit: "item writes", units: 5, key: "a" },
      { limit: "due index writes", units: 2, key: "a" },
      { limit: "item reads", units: 2, key: "a" },
      { limit: "due index reads", units: 0.5, key: undefined },
    ]);
  });

  test("passes an item that is larger than the limit, and makes later calls wait for it", async () => {
    const ledger = ledgerWith({ writeUnits: 2 });
    await ledger.write(item("a", { value: { text: incompressible(5_000) } }));
    await clock.advance(1_000);
    await expect(ledger.write(item("a", { version: 2 }))).rejects.toThrow("item writes");
    await clock.advance(1_000);
    await expect(ledger.write(item("a", { version: 2 }))).resolves.toBe("written");
  });

  test("counts an entry of the due index once, and its change twice", async () => {
    const ledger = ledgerWith({ writeUnits: 10 });
    expect(await untilThrottled((n) => ledger.write(item(`a${n}`, { dueAt: n })))).toBe(10);
    await clock.advance(1_000);
    const moved = (n: number) => item(`a${n}`, { version: 2, dueAt: n + 60_000 });
    expect(await untilThrottled((n) => ledger.write(moved(n)))).toBe(5);

    expect(new Set(throttled)).toEqual(new Set(["due index writes"]));
  });

  test("counts an entry of the due index in the shard of its key, and a moved one in both", async () => {
    const aws = awsWith({ writeUnits: 1 });
    const store = createMemoryLedger();
    const inShard = (shard: number) => aws.ledger(store, () => shard);
    const due = (key: string, version = 1) => item(key, { version, dueAt: 1 });
    await inShard(0).write(due("a"));
    await inShard(1).write(due("b"));
    await expect(inShard(1).write(due("c"))).rejects.toThrow("due index writes");
    await clock.advance(1_000);

    await inShard(2).write(due("a", 2));
    await expect(inShard(0).write(due("d"))).rejects.toThrow("due index writes");
    await expect(inShard(2).write(due("d"))).rejects.toThrow("due index writes");
    await expect(inShard(1).write(due("d"))).resolves.toBe("written");
  });

  test("counts a query of the due index in its shard, and one without a shard in each", async () => {
    const ledger = ledgerWith({ readUnits: 1 });
    for (const _ of [1, 2]) await ledger.listDue(1, 10, 3);
    await expect(ledger.listDue(1, 10, 3)).rejects.toThrow("due index reads");
    await expect(ledger.listDue(1, 10, 4)).resolves.toEqual([]);
    await expect(ledger.listDue(1, 10)).rejects.toThrow("due index reads");
    await clock.advance(1_000);
    await ledger.listDue(1, 10);
    await ledger.listDue(1, 10, 15);
    await expect(ledger.listDue(1, 10, 15)).rejects.toThrow("due index reads");
  });

  test("throttles a write that changes a throttled index, and no other", async () => {
    const ledger = ledgerWith({ writeUnits: 1 });
    await ledger.write(item("a", { dueAt: 1 }));
    await expect(ledger.write(item("b", { dueAt: 1 }))).rejects.toThrow("due index writes");
    await expect(ledger.write(item("c"))).resolves.toBe("written");
    await clock.advance(1_000);
    await ledger.write(item("d", { dueAt: 1 }));
    await expect(ledger.write(item("a", { version: 2, dueAt: 1 }))).resolves.toBe("written");
  });

  test("counts a listed item once in its partition of the list index", async () => {
    const ledger = ledgerWith({ writeUnits: 3 });
    const listing = { partition: "2026-11-22#1", sort: "2026-11-22T12:00:00.000Z" };
    const first = await untilThrottled((n) => ledger.write(item(`a${n}`, { listing })));
    expect([first, throttled]).toEqual([3, ["list index writes"]]);
    await expect(ledger.write(item("a1", { version: 2, listing }))).resolves.toBe("written");
    const other = { ...listing, partition: "2026-11-22#2" };
    await expect(ledger.write(item("b", { listing: other }))).resolves.toBe("written");
  });

  test("counts a failed condition in the table only", async () => {
    const ledger = ledgerWith({ writeUnits: 3 });
    await ledger.write(item("a", { dueAt: 1 }));
    for (const _ of [1, 2]) expect(await ledger.write(item("a", { dueAt: 2 }))).toBe("conflict");
    await expect(ledger.write(item("a", { dueAt: 2 }))).rejects.toThrow("item writes");
    expect(await untilThrottled((n) => ledger.write(item(`b${n}`, { dueAt: 1 })))).toBe(2);
  });

  test("counts half a read unit for a query of up to 4 kB", async () => {
    const ledger = ledgerWith({ readUnits: 2 });
    expect(await untilThrottled(() => ledger.listDue(1, 10))).toBe(4);
    expect(await untilThrottled(() => ledger.list("day", undefined, 10))).toBe(4);
    await clock.advance(1_000);
    for (let n = 0; n < 200; n += 1)
      await ledger.write(item(`${"k".repeat(30)}${n}`, { dueAt: 1 }));
    // 200 entries of about 50 bytes: three times 4 kB, halved.
    expect(await untilThrottled(() => ledger.listDue(1, 200))).toBe(2);
  });
});

describe("the clients of the SDK", () => {
  const random = createSeededRandom();

  test("repeat a throttled call twice, after at most one and two seconds, and then fail", async () => {
    const at: number[] = [];
    const secrets = awsWith({ getParameter: 0 }).secrets({ read: async () => "secret" });
    const from = clock.now();
    const read = createRetryingPorts({ clock, random: { ...random, fraction: () => 0.9 } })
      .secrets({ read: (name) => secrets.read(name).finally(() => at.push(clock.now() - from)) })
      .read("/key");
    const failed = expect(read).rejects.toMatchObject({ name: "ThrottlingException" });
    await clock.advance(10_000);
    await failed;

    expect(at).toEqual([0, 900, 2_700]);
  });

  test("cannot tell a conflict from their own first attempt after throttling", async () => {
    const store = createMemoryLedger();
    await store.write(item("a"));
    const limited = awsWith({ writeUnits: 1 }).ledger(store);
    const ledger = createRetryingPorts({
      clock,
      random: { ...random, fraction: () => 0.99 },
    }).ledger(limited);
    expect(await ledger.write(item("a"))).toBe("conflict");

    const second = expect(ledger.write(item("a"))).rejects.toThrow(
      "unknown whether version 1 of ledger item a was written",
    );
    await clock.advance(10_000);
    await second;
  });

  test("lose no write and no message, and repeat none, however small the limits", async () => {
    const calls = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(calls, fc.integer({ min: 1, max: 3 }), async (pauses, limit) => {
        const clock = createVirtualClock();
        const random = createSeededRandom(limit);
        const limits = { ...awsLimitsOf(), writeUnits: limit, queueCalls: limit };
        const aws = createLimitedAws(limits, clock);
        const ports = createRetryingPorts({ clock, random });
        const store = createMemoryLedger();
        const map = createMemoryStore().map("commands");
        const queue = await openFifoQueue({ map, clock, random, maxReceiveCount: 3 });
        const perSecond = new Map<number, number>();
        const note = (): void => {
          const second = Math.floor(clock.now() / 1_000);
          perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
        };
        const counted = {
          ...queue,
          async send(message: CommandMessage) {
            note();
            await queue.send(message);
          },
        };
        const ledger = ports.ledger(aws.ledger(store));
        const commands = ports.queue(aws.queue(counted));
        const done: string[] = [];
        const failed: string[] = [];
        const follow = (name: string, call: Promise<unknown>): Promise<unknown> =>
          call.then(
            () => done.push(name),
            () => failed.push(name),
          );
        const running: Promise<unknown>[] = [];
        for (const [index, pauseMs] of pauses.entries()) {
          await clock.advance(pauseMs);
          const name = `n${index}`;
          running.push(follow(name, ledger.write(item(name, { dueAt: 1 }))));
          const message = { body: name, groupId: name, deduplicationId: name };
          running.push(follow(`sent ${name}`, commands.send(message)));
        }
        await clock.advance(10_000);
        await Promise.all(running);

        const due = (await store.listDue(1, 100)).map(({ key }) => key);
        const sent = (await queue.receive(100, 1_000)).map(({ body }) => `sent ${body}`);
        expect([...due, ...sent].sort()).toEqual(done.sort());
        expect(done.length + failed.length).toBe(2 * pauses.length);
        expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 40 },
    );
  });
});

describe("SQS FIFO", () => {
  const openQueue = async (limits: Partial<AwsLimits>) => {
    const { lookAhead, deduplicatesByGroup } = { ...awsLimitsOf(), ...limits };
    const map = createMemoryStore().map("commands");
    const random = createSeededRandom();
    const own = { lookAhead, deduplicatesByGroup, maxReceiveCount: 3 };
    return awsWith(limits).queue(await openFifoQueue({ map, clock, random, ...own }));
  };
  const message = (number: number, groupId = `g${number}`) => ({
    body: "{}",
    groupId,
    deduplicationId: `d${number}`,
  });

  test("without high throughput takes 300 sends and gives 300 receives a second, of ten messages each", async () => {
    const queue = await openQueue(awsLimitsOf(false));
    expect(await untilThrottled((n) => queue.send(message(n)))).toBe(300);
    await clock.advance(1_000);
    for (let receive = 1; receive <= 300; receive += 1) await queue.receive(0, 60_000);
    expect(await queue.receive(10, 60_000)).toEqual([]);
    await clock.advance(1_000);
    expect(await queue.receive(20, 60_000)).toHaveLength(10);

    expect(throttled).toEqual(["sends", "receives"]);
  });

  test("in high throughput limits each group, and deduplicates in it", async () => {
    const queue = await openQueue({});
    expect(await untilThrottled((n) => queue.send(message(n, "a")))).toBe(300);
    await queue.send(message(1, "b"));
    await queue.send(message(1, "b"));

    expect(throttled).toEqual(["sends of a group"]);
    expect(queue.size()).toBe(301);
  });
});

test("EventBridge fails the entries over its rate, each by itself, and publishes the others", async () => {
  const published: string[] = [];
  const bus = awsWith({ putEvents: 3 }).bus({
    publish: async (entries) =>
      entries.map(({ detailType }) => {
        published.push(detailType);
        return { kind: "published" };
      }),
  });
  const entry = (detailType: string): BusEntry => ({
    ...{ detailType, detail: {}, time: clock.now(), groupId: "g", deduplicationId: detailType },
  });
  await bus.publish([entry("A"), entry("B")]);

  const outcomes = await bus.publish([entry("C"), entry("D")]);

  expect(outcomes).toMatchObject([
    { kind: "published" },
    { kind: "failed", code: "ThrottlingException" },
  ]);
  expect([published, throttled]).toEqual([["A", "B", "C"], ["entries"]]);
});
