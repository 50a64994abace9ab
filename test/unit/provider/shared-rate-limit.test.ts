import fc from "fast-check";
import { expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import type { Account } from "../../../lib/provider/accounts.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import { type AccountWorld, createAccountWorld, LIST } from "./account-world.ts";

const scenario = fc.record({
  requestsPerSecond: fc.integer({ min: 1, max: 6 }),
  /** Durations of successive calls of the ledger, in turns of the event loop; repeated. */
  delays: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }),
  /** Times at which each process sends its requests, ms after the start. */
  processes: fc.array(
    fc.array(fc.integer({ min: 0, max: 2_500 }), { minLength: 1, maxLength: 8 }),
    { minLength: 1, maxLength: 4 },
  ),
});

const callUntilServed = async ({ clock }: AccountWorld, { client }: Account) => {
  for (;;) {
    try {
      return await client.call(listStorageEvents, LIST);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== "budget-spent") throw error;
      await clock.sleep(error.retryAfterMs ?? 0);
    }
  }
};

const reservations = fc.record({
  requestsPerSecond: fc.integer({ min: 4, max: 9 }),
  delays: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1 }),
  processes: fc.array(
    fc.record({
      permits: fc.integer({ min: 1, max: 4 }),
      afterMs: fc.integer({ min: 0, max: 1_500 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

test("no second exceeds the rate limit, and all requests are served", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ requestsPerSecond, delays, processes }) => {
      let calls = 0;
      const delay = () => delays[calls++ % delays.length] ?? 0;
      const world = await createAccountWorld({ requestsPerSecond, delay });

      await world.drive(
        Promise.all(
          processes.flatMap((asks) => {
            const account = world.open();
            return asks.map(async (afterMs) => {
              await world.clock.sleep(afterMs);
              return callUntilServed(world, account);
            });
          }),
        ),
        0,
      );

      expect(Math.max(...world.perSecond().values())).toBeLessThanOrEqual(requestsPerSecond);
      expect(world.sent).toHaveLength(processes.flat().length);
    }),
    { numRuns: 60 },
  );
});

test("every reservation is granted in the end, and no second exceeds the rate limit", async () => {
  await fc.assert(
    fc.asyncProperty(reservations, async ({ requestsPerSecond, delays, processes }) => {
      let calls = 0;
      const delay = () => delays[calls++ % delays.length] ?? 0;
      const world = await createAccountWorld({ requestsPerSecond, delay });
      const sendAll = async ({ permits, afterMs }: (typeof processes)[number]) => {
        const account = world.open();
        await world.clock.sleep(afterMs);
        for (;;) {
          const readiness = await account.ready(new AbortController().signal, permits);
          if (readiness.kind === "ready") break;
          await world.clock.sleep(readiness.until - world.clock.now());
        }
        await Promise.all(Array.from({ length: permits }, () => callUntilServed(world, account)));
      };

      await world.drive(Promise.all(processes.map(sendAll)), 0);

      expect(Math.max(...world.perSecond().values())).toBeLessThanOrEqual(requestsPerSecond);
      expect(world.sent).toHaveLength(processes.reduce((sum, { permits }) => sum + permits, 0));
    }),
    { numRuns: 60 },
  );
});

test("forty processes that ask at one instant all get a permit", async () => {
  const world = await createAccountWorld({ delay: () => 1 });

  await world.drive(
    Promise.all(
      Array.from({ length: 40 }, () => world.open().client.call(listStorageEvents, LIST)),
    ),
  );

  expect(world.sent).toHaveLength(40);
});

test("a process that loses every write of a grant waits as without a permit", async () => {
  const world = await createAccountWorld();
  let lost = 0;
  const write = async (): Promise<"conflict"> => {
    lost += 1;
    return "conflict";
  };

  const outcome = await world.read(world.open({ ledger: { ...world.ledger, write } }));

  expect(outcome).toMatchObject({ disposition: "throttled", code: "budget-spent" });
  expect(world.sent).toEqual([]);
  expect(lost).toBeLessThan(60);
});

test("permits that arrive after their window are not used", async () => {
  let isSlow = true;
  const world = await createAccountWorld({
    // The write of the grant takes more than a second.
    around: async ({ name }, effect) => {
      const answer = await effect();
      if (isSlow && name.startsWith("ledger.write")) {
        isSlow = false;
        await world.clock.sleep(1_200);
      }
      return answer;
    },
  });
  const startedAt = world.clock.now();

  const outcome = await world.read(world.open());

  expect(outcome).toBe("answered");
  expect(world.sent.map(({ at }) => at - startedAt)).toEqual([1_200]);
  expect(await world.rateLimit()).toMatchObject({ windowStartedAt: startedAt + 1_000, granted: 1 });
});

test("a ledger that is too slow for every grant ends the wait with an error", async () => {
  const world = await createAccountWorld({
    around: async ({ name }, effect) => {
      const answer = await effect();
      if (name.startsWith("ledger.write")) await world.clock.sleep(1_200);
      return answer;
    },
  });

  const outcome = await world.read(world.open());

  expect(outcome).toMatchObject({ disposition: "throttled", code: "budget-spent" });
  expect(world.sent).toEqual([]);
});

test("concurrent calls of one process share one read and one write of the ledger", async () => {
  const calls: string[] = [];
  const world = await createAccountWorld({
    around: ({ name }, effect) => {
      calls.push(name);
      return effect();
    },
  });
  const account = world.open();

  await world.drive(
    Promise.all(Array.from({ length: 10 }, () => account.client.call(listStorageEvents, LIST))),
  );

  expect(calls.filter((name) => name.startsWith("ledger"))).toEqual([
    "ledger.read budget#acme",
    "ledger.write budget#acme",
  ]);
  expect(world.sent).toHaveLength(10);
});

test("a process that needs more than a window leaves permits to others", async () => {
  const world = await createAccountWorld({ requestsPerSecond: 8 });
  const startedAt = world.clock.now();
  const [greedy, modest] = [world.open(), world.open()];
  const many = Array.from({ length: 20 }, () => greedy.client.call(listStorageEvents, LIST));
  const one = modest.client.call(listStorageEvents, LIST).then(() => world.clock.now());

  await world.drive(Promise.all(many));

  expect(await one).toBe(startedAt);
  expect([...world.perSecond().values()]).toEqual([8, 8, 5]);
});

test("a call without a permit fails after five seconds and is not sent", async () => {
  const world = await createAccountWorld({ requestsPerSecond: 1 });
  const account = world.open();
  const calls = Array.from({ length: 8 }, () =>
    account.client.call(listStorageEvents, LIST).then(
      () => "answered",
      (error: unknown) => error,
    ),
  );

  const outcomes = await world.drive(Promise.all(calls));

  const errors = outcomes.filter((outcome) => outcome !== "answered");
  expect(world.sent).toHaveLength(8 - errors.length);
  expect(errors.length).toBeGreaterThanOrEqual(2);
  expect(errors[0]).toMatchObject({
    disposition: "throttled",
    code: "budget-spent",
    message: "list-storage-events: not sent: the account's rate limit is exhausted",
  });
});

test("without a ledger nothing is sent, and the error is transient", async () => {
  const world = await createAccountWorld({
    around: ({ name }, effect) =>
      name.startsWith("ledger") ? Promise.reject(new Error("away")) : effect(),
  });

  const outcome = await world.read(world.open());

  expect(outcome).toMatchObject({ disposition: "transient", code: "budget-unavailable" });
  expect(world.sent).toEqual([]);
});

test("a call that is aborted while it waits for a permit is not sent", async () => {
  const world = await createAccountWorld({ requestsPerSecond: 1 });
  const account = world.open();
  await world.read(account);
  const stopped = new AbortController();
  void world.clock.sleep(100).then(() => stopped.abort());

  const outcome = await world.read(account, stopped.signal);

  expect(outcome).toMatchObject({ disposition: "transient", code: "aborted" });
  expect(world.sent).toHaveLength(1);
});
