import { describe, expect, test } from "vitest";
import { liftPause } from "../../../lib/admin/operator-actions.ts";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { createAccountWorld, LIST, throttled } from "./account-world.ts";

/** Step of the virtual clock in `drive`. */
const STEP_MS = 20;

describe("a pause that one process receives", () => {
  test("applies to all processes until its end", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    const [one, other] = [world.open(), world.open()];
    world.answerNext(() => throttled(20));

    const first = await world.read(one);
    const second = await world.read(other);
    await world.clock.advance(startedAt + 19_999 - world.clock.now());
    const third = await world.ready(one);
    await world.clock.advance(1);
    const fourth = await world.read(other);

    expect(first).toMatchObject({ disposition: "throttled", code: "throttled", status: 429 });
    expect(second).toMatchObject({
      disposition: "throttled",
      code: "paused",
      message: "list-storage-events: not sent: the provider asked for a pause",
    });
    // `ready` waits for the last millisecond.
    expect(third).toEqual({ kind: "ready" });
    expect(fourth).toBe("answered");
    expect(world.sent.map(({ at }) => at - startedAt)).toEqual([0, 20_000 + STEP_MS]);
  });

  test("lasts a second without Retry-After", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    world.answerNext(() => throttled());

    await world.read(world.open());
    const next = await world.read(world.open());

    expect(next).toBe("answered");
    expect(world.sent.map(({ at }) => at - startedAt)).toEqual([0, 1_000]);
  });

  test("delays calls without failing them if it is short", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    const account = world.open();
    world.answerNext(() => throttled(4));

    await world.read(account);
    const next = await world.read(account);

    expect(next).toBe("answered");
    expect(world.sent.map(({ at }) => at - startedAt)).toEqual([0, 4_000]);
  });

  test("is the reason why an account is not ready, with its end", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    world.answerNext(() => throttled(30));

    await world.read(world.open());

    expect(await world.ready(world.open())).toEqual({
      kind: "wait",
      until: startedAt + 30_000,
      because: "paused",
    });
  });

  test("is obeyed by the receiving process even if the ledger is down", async () => {
    let isAway = false;
    const world = await createAccountWorld({
      around: ({ name }, effect) =>
        isAway && name.startsWith("ledger") ? Promise.reject(new Error("away")) : effect(),
    });
    const account = world.open();
    world.answerNext(() => {
      isAway = true;
      return throttled(30);
    });

    const first = await world.read(account);
    isAway = false;
    const second = await world.read(account);

    expect(first).toMatchObject({ code: "throttled", status: 429 });
    expect(second).toMatchObject({ code: "paused" });
    expect(world.sent).toHaveLength(1);
    expect(world.log.lines).toMatchObject([{ level: "warn", fields: { errorMessage: "away" } }]);
  });

  test("invalidates permits that were granted before", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.ready(account);
    await world.ready(account);
    world.answerNext(() => throttled(30));

    await world.read(account);
    const next = await world.read(account);

    expect(next).toMatchObject({ code: "paused" });
    expect(world.sent).toHaveLength(1);
  });
});

describe("a pause that is longer than a minute", () => {
  const FOREVER = 999_999_999;
  const MINUTE_MS = 60_000;

  test.each([
    ["15 minutes without max_pause", {}, 15 * MINUTE_MS],
    ["max_pause", { maxPause: "2m" }, 2 * MINUTE_MS],
  ])("lasts at most %s", async (_what, options, lastsMs) => {
    const world = await createAccountWorld(options);
    const startedAt = world.clock.now();
    world.answerNext(() => throttled(FOREVER));

    const first = await world.read(world.open());

    expect(first).toMatchObject({ code: "throttled", retryAfterMs: lastsMs });
    expect(await world.ready(world.open())).toEqual({
      kind: "wait",
      until: startedAt + lastsMs,
      because: "paused",
    });
    await world.clock.advance(lastsMs);
    expect(await world.read(world.open())).toBe("answered");
  });

  test("causes one event and one log line, however many requests are throttled", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    const accounts = [world.open(), world.open(), world.open()];
    for (const _ of accounts) world.answerNext(() => throttled(FOREVER));

    await Promise.all(accounts.map((account) => world.read(account)));

    const until = new Date(startedAt + 15 * MINUTE_MS).toISOString();
    const since = new Date(startedAt).toISOString();
    expect(world.published()).toEqual([["AccountPaused", { since, until }]]);
    expect(world.log.lines).toMatchObject([{ level: "warn", fields: { account: "acme", until } }]);
  });

  test("is published again when the provider asks for the next pause", async () => {
    const world = await createAccountWorld();
    world.answerNext(() => throttled(FOREVER));
    await world.read(world.open());
    await world.clock.advance(15 * MINUTE_MS);
    world.answerNext(() => throttled(FOREVER));

    await world.read(world.open());

    expect(world.published()).toHaveLength(2);
  });

  test("of exactly a minute is not published", async () => {
    const world = await createAccountWorld();
    world.answerNext(() => throttled(60));

    await world.read(world.open());

    expect(world.published()).toEqual([]);
    expect(world.log.lines).toEqual([]);
  });

  test("ends for every process when an operator lifts it, also for the receiving one", async () => {
    const world = await createAccountWorld();
    const [asked, other] = [world.open(), world.open()];
    world.answerNext(() => throttled(FOREVER));
    await world.read(asked);
    await world.read(other);

    const answer = await liftPause(world, "acme");

    expect(answer).toMatchObject({ kind: "lifted", commands: 0 });
    expect(await world.read(asked)).toBe("answered");
    expect(await world.read(other)).toBe("answered");
    expect(await liftPause(world, "acme")).toEqual({ kind: "not-paused", commands: 0 });
    expect(await liftPause(world, "other")).toBeUndefined();
  });
});

test.each(["read", "write"])(
  "a permit granted by a slow %s is not used in a pause that began meanwhile",
  async (call) => {
    let isSlow = false;
    const world = await createAccountWorld({
      around: async ({ name }, effect) => {
        const answer = await effect();
        if (isSlow && name.startsWith(`ledger.${call}`)) await world.clock.sleep(300);
        return answer;
      },
    });
    const startedAt = world.clock.now();
    const account = world.open();
    world.answerNext(async () => {
      isSlow = true;
      void account.client.call(listStorageEvents, LIST);
      await world.clock.sleep(100);
      return throttled(3);
    });

    await world.read(account);
    await world.clock.advance(10_000);

    expect(world.sent).toHaveLength(2);
    expect(world.sent[1]?.at).toBeGreaterThanOrEqual(startedAt + 3_100);
  },
);
