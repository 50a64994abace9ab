import { describe, expect, test } from "vitest";
import { createAccountWorld, FIRST_KEY, SECOND_KEY } from "./account-world.ts";

describe("an account that is ready", () => {
  test("reserves a permit for the next call, which does not ask the ledger", async () => {
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

  test("reserves no permit beyond its window", async () => {
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

  test("waits for a permit for a second at most, and answers then when to ask again", async () => {
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

  test("is not ready for a caller without time left", async () => {
    const world = await createAccountWorld();

    const readiness = await world.ready(world.open(), 1, AbortSignal.abort());

    expect(readiness).toMatchObject({ kind: "wait", until: world.clock.now() });
    expect(await world.rateLimit()).toBeUndefined();
  });

  test("keeps no expired permit beside one of a later window", async () => {
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

describe("an account that is ready for several requests", () => {
  test("reserves a permit for each of them, all of one grant", async () => {
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

  test("waits for the next window when this one has fewer left", async () => {
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

  test("has one permit where no window has as many", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 3 });

    const readiness = await world.ready(world.open(), 4);

    expect(readiness).toEqual({ kind: "ready" });
    expect(await world.rateLimit()).toMatchObject({ granted: 1 });
  });

  test("has one permit for the half-open probe while the key is refused", async () => {
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

  test("is granted again when its permit expires before it is sent", async () => {
    const { world, account } = await refusedAndRotated();
    const readiness = await world.ready(account);
    await world.clock.advance(1_100);

    const outcome = await world.change(account);

    expect(readiness).toEqual({ kind: "ready" });
    expect(outcome).toBe("answered");
  });

  test("is the only one while its permit lasts", async () => {
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
