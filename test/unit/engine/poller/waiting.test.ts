import { describe, expect, test } from "vitest";
import { pollDue, pollerLease } from "../../../../lib/engine/poller/poll.ts";
import {
  createPollerMemory,
  type PollerMemory,
} from "../../../../lib/engine/poller/poller-memory.ts";
import { takeLease } from "../../../../lib/ledger/lease.ts";
import { createFaults } from "../../../support/faults.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { requestOf } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const READ = "GET /v1/tasks/";
const LEASE = `lease#${pollerLease(0)}`;

const update = (index: number) =>
  requestOf(`c${index}`, {
    operation: "update-container",
    params: { project_id: 1, region_id: 1, container_name: `web-${index}` },
    body: {},
  });

/** Commands with a running task each, due for their first check; accounts have no lists. */
const start = async (commandCount: number) => {
  const provider = scriptProvider({
    "PATCH ": ({ target }) => json(200, { tasks: [target.split("/").at(-1)] }),
    [READ]: ({ target }) => json(200, { id: target.split("/").at(-1), state: "RUNNING" }),
  });
  const faults = createFaults();
  const world = await createWorld({
    provider: () => provider,
    accounts: { local: { canList: false } },
    around: faults.around,
  });
  for (let index = 1; index <= commandCount; index++) await world.handle(update(index));
  await world.clock.advance(2_000);
  /** @param aheadMs how far the clock of the poller's machine is ahead */
  const runIn = async (memory: PollerMemory, aheadMs = 0): Promise<void> => {
    const { deps } = world.newInvocation();
    const clock = { ...deps.clock, now: () => deps.clock.now() + aheadMs };
    const budget = { endsAt: clock.now() + 50_000, signal: new AbortController().signal };
    await world.drive(pollDue({ ...deps, clock }, budget, memory));
  };
  /** What a run calls. */
  const callsOf = async (memory: PollerMemory): Promise<readonly string[]> => {
    const before = faults.calls.length;
    await runIn(memory);
    return faults.calls.slice(before);
  };
  const wakes = (): number => world.wakes.length;
  /** Lets time pass until the last wake signal. */
  const untilWake = async (): Promise<void> => {
    await world.clock.advance(world.wakes.at(-1)! - world.clock.now());
  };
  return { world, provider, runIn, callsOf, wakes, untilWake };
};

describe("a run with nothing ready", () => {
  test("ends at once, and a wake signal leads to the next check", async () => {
    const { world, runIn } = await start(1);
    const before = world.clock.now();

    await runIn(createPollerMemory("one"));

    expect(world.clock.now() - before).toBeLessThan(500);
    const pauseMs = world.wakes.at(-1)! - before;
    expect(pauseMs).toBeGreaterThanOrEqual(4_000);
    expect(pauseMs).toBeLessThanOrEqual(5_000);
  });

  test("asks for no second wake signal while one is on its way", async () => {
    const { world, runIn, wakes } = await start(1);
    const memory = createPollerMemory("one");
    await runIn(memory);
    const before = wakes();

    for (let second = 1; second <= 3; second += 1) {
      await world.clock.advance(1_000);
      await runIn(memory);
    }

    expect(wakes()).toBe(before);
  });

  test("writes nothing then", async () => {
    const { world, runIn, callsOf } = await start(1);
    const memory = createPollerMemory("one");
    await runIn(memory);
    await world.clock.advance(1_000);

    expect(await callsOf(memory)).toEqual([`ledger.read ${LEASE}`, "ledger.listDue"]);
  });

  test("asks for an earlier wake signal for what became due meanwhile", async () => {
    const { world, runIn } = await start(1);
    const memory = createPollerMemory("one");
    await runIn(memory);
    await world.handle(update(2));
    const dueAt = world.clock.now() + 2_000;

    await runIn(memory);

    expect(world.wakes.at(-1)).toBe(dueAt);
  });

  test("sends a new wake signal for one that was lost", async () => {
    const { world, provider, runIn, wakes, untilWake } = await start(1);
    const memory = createPollerMemory("one");
    await runIn(memory);
    await untilWake();
    await world.clock.advance(30_000);
    const before = wakes();

    await runIn(memory);

    expect(provider.count(READ)).toBe(2);
    expect(wakes()).toBe(before + 1);
  });
});

test("a process that finds the lease taken again and again asks for one wake signal", async () => {
  const { world, runIn, wakes } = await start(1);
  const lease = { name: pollerLease(0), by: "other", durationMs: 10_000 };
  await takeLease(world.newInvocation().deps, lease);
  const memory = createPollerMemory("one");
  const before = wakes();

  for (let run = 1; run <= 5; run += 1) await runIn(memory);

  expect(wakes()).toBe(before + 1);
});

describe("the memory of a process", () => {
  test("spares the items of open tasks, and the lease but one write", async () => {
    const { runIn, callsOf, untilWake } = await start(1);
    const memory = createPollerMemory("one");
    await runIn(memory);
    await untilWake();

    expect(await callsOf(memory)).toEqual([
      `ledger.read ${LEASE}`,
      "ledger.listDue",
      "fetch GET /v1/tasks/web-1",
      "waker.wakeAt",
      `ledger.write ${LEASE}`,
    ]);
  });

  test("ends when another process has run the poller", async () => {
    const { callsOf, runIn, untilWake } = await start(1);
    const [one, other] = [createPollerMemory("one"), createPollerMemory("other")];
    await runIn(one);
    await untilWake();
    await runIn(other);
    await untilWake();

    expect(await callsOf(one)).toContain("ledger.read task#local/web-1");
  });

  test("is not needed to know that another process checks a task later", async () => {
    const { world, provider, runIn, wakes } = await start(3);
    await runIn(createPollerMemory("one"));
    const [checks, signals] = [provider.count(READ), wakes()];
    await world.clock.advance(1_000);

    await runIn(createPollerMemory("other"));

    expect(provider.count(READ)).toBe(checks);
    // By the clock of the first process its wake signal is ahead, but it may have come already.
    expect(wakes()).toBe(signals + 1);
  });

  test("of a new process is enough for a task that was recorded since", async () => {
    const { world, provider, runIn } = await start(3);
    await runIn(createPollerMemory("one"));
    await world.handle(update(4));
    await world.clock.advance(2_000);

    await runIn(createPollerMemory("other"));

    expect(provider.requests.at(-1)?.target).toBe(`${READ}web-4`);
    expect(provider.count(READ)).toBe(4);
  });

  test("does not hide a task that was recorded since by a process with a late clock", async () => {
    const { world, provider, runIn } = await start(1);
    await world.clock.advance(5 * 60_000);
    await runIn(createPollerMemory("one"), 4_000);
    await world.handle(update(2));
    await world.clock.advance(9_000);

    await runIn(createPollerMemory("other"));

    expect(provider.requests.at(-1)?.target).toBe(`${READ}web-2`);
  });
});
