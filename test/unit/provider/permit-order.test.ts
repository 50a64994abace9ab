import { describe, expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { createRateLimiter } from "../../../lib/provider/rate-limiter.ts";
import { createRecordingLog } from "../../support/logs.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { createRecordingBus } from "../../support/recording-bus.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createAccountWorld, LIST } from "./account-world.ts";

describe("requests of one process that wait for permits", () => {
  test("are served in order of arrival", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 4 });
    const account = world.open();
    const served: number[] = [];
    const calls = Array.from({ length: 17 }, async (_, nth) => {
      await account.client.call(listStorageEvents, LIST);
      served.push(nth);
    });

    await world.drive(Promise.all(calls));

    expect(served).toEqual(Array.from({ length: 17 }, (_, nth) => nth));
    expect(Math.max(...world.perSecond().values())).toBe(4);
  });

  test("are not overtaken by a later request", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 1 });
    const account = world.open();
    await world.read(account);
    const served: string[] = [];
    const ask = async (name: string) => {
      await account.client.call(listStorageEvents, LIST);
      served.push(name);
    };

    const first = ask("first");
    await world.clock.advance(900);
    const second = ask("second");
    await world.drive(Promise.all([first, second]));

    expect(served).toEqual(["first", "second"]);
  });

  test("are not overtaken by a request for fewer permits", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 4 });
    const startedAt = world.clock.now();
    const account = world.open();
    for (const _ of [1, 2]) await world.read(account);

    const ready = account.ready(new AbortController().signal, 3);
    await world.clock.advance(100);
    const call = account.client.call(listStorageEvents, LIST);
    await world.drive(Promise.all([ready, call]));

    expect(world.sent.at(-1)?.at).toBeGreaterThanOrEqual(startedAt + 1_000);
  });

  test("are served after one of them is aborted", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 1 });
    const account = world.open();
    await world.read(account);
    const stopped = new AbortController();
    const first = account.client.call(listStorageEvents, LIST, stopped.signal).catch(String);
    const second = account.client.call(listStorageEvents, LIST);
    await world.clock.advance(300);

    stopped.abort();
    await world.drive(second);

    expect(await first).toContain("no time left");
    expect(world.sent).toHaveLength(2);
  });

  test("all fail when the ledger fails, and the next request reads the ledger again", async () => {
    let isAway = true;
    const world = await createAccountWorld({
      around: ({ name }, effect) =>
        isAway && name.startsWith("ledger") ? Promise.reject(new Error("away")) : effect(),
    });
    const account = world.open();

    const outcomes = await Promise.all([world.read(account), world.read(account)]);
    isAway = false;
    const next = await world.read(account);

    expect(outcomes).toMatchObject([
      { code: "budget-unavailable" },
      { code: "budget-unavailable" },
    ]);
    expect(next).toBe("answered");
  });

  test("leave no timer when the last of them is aborted", async () => {
    const asleep = { count: 0 };
    const world = await createAccountWorld({ requestsPerSecond: 1 });
    const clock = {
      now: world.clock.now,
      async sleep(durationMs: number, signal?: AbortSignal) {
        asleep.count += 1;
        await world.clock.sleep(durationMs, signal);
        asleep.count -= 1;
      },
    };
    const account = world.open({ clock });
    await world.read(account);
    const stopped = new AbortController();
    const call = account.client.call(listStorageEvents, LIST, stopped.signal).catch(String);
    await world.clock.advance(100);
    const before = asleep.count;

    stopped.abort();
    await call;
    await world.clock.advance(0);

    expect(before).toBe(1);
    expect(asleep.count).toBe(0);
  });

  test.each(Array.from({ length: 40 }, (_, steps) => steps))(
    "are served if one arrives %i microtasks after another",
    async (steps) => {
      const clock = createVirtualClock();
      const ledger = createMemoryLedger();
      const random = createSeededRandom(1);
      const bus = createRecordingBus(ledger, "own");
      const ports = { clock, ledger, random, bus, log: createRecordingLog() };
      const limiter = createRateLimiter(ports, { name: "acme", requestsPerSecond: 10 });
      const options = { maxWaitMs: 5_000, signal: new AbortController().signal };
      const results: unknown[] = [];
      const acquire = async () => results.push(await limiter.acquire(options));

      void acquire();
      for (let step = 0; step < steps; step += 1) await Promise.resolve();
      void acquire();
      await clock.advance(10_000);

      expect(results).toEqual([{ kind: "ready" }, { kind: "ready" }]);
    },
  );
});
