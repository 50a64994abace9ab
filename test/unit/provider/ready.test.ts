import { describe, expect, test } from "vitest";
import { createAccountWorld, FIRST_KEY, SECOND_KEY } from "./account-world.ts";

describe("ready for one request", () => {
  test("reserves a permit for the next call, which does not read the ledger", async () => {
    const calls: string[] = [];
    const world = await createAccountWorld({
      around: ({ name }, effect) => {
        calls.push(name);
        return effect();
      },
    });
    const account = world.open();

    const readiness = await world.ready(account);
    calls.splice(0);
    const outcome = await world.read(account);

    expect(readiness).toEqual({ kind: "ready" });
    expect(outcome).toBe("answered");
    expect(calls).toEqual(["fetch"]);
    expect(await world.rateLimit()).toMatchObject({ granted: 1 });
  });

  test("reserves one permit for each caller", async () => {
    const world = await createAccountWorld();
    const account = world.open();

    for (const _ of [1, 2, 3]) await world.ready(account);
    const granted = (await world.rateLimit())?.granted;
    for (const _ of [1, 2, 3]) await world.read(account);

    expect(granted).toBe(3);
    expect(await world.rateLimit()).toMatchObject({ granted: 3 });
  });

  test("reserves a permit for the current window only", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.ready(account);
    await world.clock.advance(1_000);

    await world.read(account);

    expect(await world.rateLimit()).toMatchObject({
      granted: 1,
      windowStartedAt: world.clock.now(),
    });
  });

  test("waits for a permit for up to a second", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 1 });
    const startedAt = world.clock.now();
    await world.read(world.open());
    await world.clock.advance(startedAt + 400 - world.clock.now());

    const waited = await world.ready(world.open());
    const over = await world.ready(world.open());

    expect(waited).toEqual({ kind: "ready" });
    expect(over).toEqual({ kind: "ready" });
    expect(await world.rateLimit()).toMatchObject({ windowStartedAt: startedAt + 2_000 });
  });

  test("reserves nothing for an aborted caller", async () => {
    const world = await createAccountWorld();

    const readiness = await world.ready(world.open(), 1, AbortSignal.abort());

    expect(readiness).toMatchObject({ kind: "wait", until: world.clock.now() });
    expect(await world.rateLimit()).toBeUndefined();
  });

  test("drops expired permits when the next window begins", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.ready(account, 3);
    await world.clock.advance(1_000);
    await world.ready(account);

    for (const _ of [1, 2]) await world.read(account);

    expect(await world.rateLimit()).toMatchObject({
      granted: 2,
      windowStartedAt: world.clock.now(),
    });
  });
});

describe("ready for several requests", () => {
  test("reserves a permit for each of them by one grant", async () => {
    const calls: string[] = [];
    const world = await createAccountWorld({
      requestsPerSecond: 5,
      around: ({ name }, effect) => {
        calls.push(name);
        return effect();
      },
    });
    const account = world.open();

    const readiness = await world.ready(account, 5);
    const granted = (await world.rateLimit())?.granted;
    calls.splice(0);
    for (const _ of [1, 2, 3, 4, 5]) await world.read(account);

    expect(readiness).toEqual({ kind: "ready" });
    expect(granted).toBe(5);
    expect(calls).toEqual(["fetch", "fetch", "fetch", "fetch", "fetch"]);
  });

  test("waits for the next window if fewer permits remain in this one", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 5 });
    const startedAt = world.clock.now();
    for (const _ of [1, 2]) await world.read(world.open());

    const readiness = await world.ready(world.open(), 4);

    expect(readiness).toEqual({ kind: "ready" });
    expect(await world.rateLimit()).toMatchObject({
      windowStartedAt: startedAt + 1_000,
      granted: 4,
    });
  });

  test("reserves one permit if the rate limit is lower than the number of requests", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 3 });

    const readiness = await world.ready(world.open(), 4);

    expect(readiness).toEqual({ kind: "ready" });
    expect(await world.rateLimit()).toMatchObject({ granted: 1 });
  });

  test("reserves one permit, the half-open probe, while the key is refused", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    world.accept();
    await world.read(account);
    world.accept(FIRST_KEY);
    await world.clock.advance(30_000);

    const readiness = await world.ready(account, 4);
    const outcomes = [await world.read(account), await world.read(account)];

    expect(readiness).toEqual({ kind: "ready" });
    expect(outcomes).toEqual(["answered", "answered"]);
  });
});

describe("the half-open probe of a refused key", () => {
  const refusedAndRotated = async () => {
    const world = await createAccountWorld();
    const account = world.open();
    world.accept();
    await world.read(account);
    world.secret.text = SECOND_KEY;
    world.accept(SECOND_KEY);
    await world.clock.advance(30_000);
    return { world, account };
  };

  test("is granted again if its permit expires unused", async () => {
    const { world, account } = await refusedAndRotated();
    const readiness = await world.ready(account);
    await world.clock.advance(1_100);

    const outcome = await world.change(account);

    expect(readiness).toEqual({ kind: "ready" });
    expect(outcome).toBe("answered");
  });

  test("is the only permit until it expires", async () => {
    const { world, account } = await refusedAndRotated();
    await world.ready(account);

    expect(await world.ready(account)).toMatchObject({ kind: "wait", because: "key-refused" });
    expect(await world.ready(world.open())).toMatchObject({ because: "key-refused" });
  });

  test("is not granted again after it was sent", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    world.accept();
    await world.read(account);
    await world.clock.advance(30_000);
    await world.ready(account);
    await world.read(account);
    await world.clock.advance(1_100);

    const next = await world.read(account);

    expect(next).toMatchObject({ code: "key-refused", status: undefined });
    expect(world.sent).toHaveLength(2);
  });
});
