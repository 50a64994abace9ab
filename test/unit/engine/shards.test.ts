import { describe, expect, it } from "vitest";
import { createShards, wakeRetiredShards } from "../../../lib/engine/shards.ts";
import { MAX_SHARDS } from "../../../lib/platform/ports/ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const KEYS = Array.from({ length: 8_000 }, (_, index) => `command#111122223333/order-${index}`);
const ON_THE_HOUR = Date.parse("2026-11-24T10:00:00Z");
const MINUTE_MS = 60_000;

describe("the shards of the due index", () => {
  it("are one by default, for every key", () => {
    const { count, of } = createShards(1);

    expect(count).toBe(1);
    expect(new Set(KEYS.map(of))).toEqual(new Set([0]));
  });

  it.each([2, 5, MAX_SHARDS])("get equal parts of the commands: %i of them", (count) => {
    const shards = createShards(count);
    const sizes = new Map<number, number>();
    for (const key of KEYS) sizes.set(shards.of(key), (sizes.get(shards.of(key)) ?? 0) + 1);

    expect([...sizes.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, shard) => shard),
    );
    const fair = KEYS.length / count;
    for (const size of sizes.values()) expect(Math.abs(size - fair)).toBeLessThan(fair / 4);
  });

  it("keep the tasks of an account together, and those of accounts apart", () => {
    const { of } = createShards(MAX_SHARDS);
    const shardsOf = (account: string) =>
      new Set(KEYS.slice(0, 100).map((_, index) => of(`task#${account}/t-${index}`)));

    expect(shardsOf("main").size).toBe(1);
    expect(of("task#main/t-1/111122223333/order-1")).toBe(of("task#main/t-2"));
    const accounts = Array.from({ length: 40 }, (_, index) => `account-${index}`);
    expect(new Set(accounts.flatMap((each) => [...shardsOf(each)])).size).toBeGreaterThan(8);
  });
});

/** A stage with one shard, which had four; `task#b/…` and `task#d/…` are left in the shards 1 and 3. */
const openFormer = async (at: number) => {
  const places = new Map([
    ["task#a/1", 0],
    ["task#b/1", 1],
    ["task#d/1", 3],
  ]);
  const clock = createVirtualClock(at);
  const ledger = createMemoryLedger((key) => places.get(key) ?? 0);
  for (const key of places.keys()) await ledger.write({ key, version: 1, dueAt: at, value: {} });
  await ledger.write({ key: "task#e/1", version: 1, dueAt: at + 1, value: {} });
  const wakes: (readonly [at: number, shard: number])[] = [];
  const waker = {
    wakeAt: async (...wake: readonly [number, number]) => {
      wakes.push(wake);
    },
  };
  await wakeRetiredShards({ ledger, clock, waker, shards: createShards(1) });
  return wakes;
};

describe("shards without a schedule", () => {
  it("are woken once an hour if something in them is due", async () => {
    const at = ON_THE_HOUR + 30 * MINUTE_MS;

    expect(await openFormer(at)).toEqual([
      [at, 1],
      [at, 3],
    ]);
  });

  it.each([29, 31])("are not asked in minute %i", async (minute) => {
    expect(await openFormer(ON_THE_HOUR + minute * MINUTE_MS)).toEqual([]);
  });
});
