import { describe, expect, test } from "vitest";
import { listStorageEvents } from "../../lib/contract/storage-events.ts";
import { createAccountWorld, FIRST_KEY, LIST, SECOND_KEY } from "./account-world.ts";

const rotate = (world: Awaited<ReturnType<typeof createAccountWorld>>): void => {
  world.secret.text = SECOND_KEY;
  world.accept(SECOND_KEY);
};

test("the key is read at the first call, and kept", async () => {
  const world = await createAccountWorld();
  const account = world.open();
  const readsBefore = world.secret.reads;

  await world.read(account);
  await world.clock.advance(3_600_000);
  await world.read(account);

  expect(readsBefore).toBe(0);
  expect(world.secret.reads).toBe(1);
});

describe("a key that was replaced", () => {
  test("is used at once: the refused call is sent again and answered", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);

    const outcome = await world.read(account);

    expect(outcome).toBe("answered");
    expect(world.sent.map(({ key }) => key)).toEqual([FIRST_KEY, FIRST_KEY, SECOND_KEY]);
    expect(world.secret.reads).toBe(2);
    expect(world.counted).toEqual([]);
    expect(world.told()).toEqual([]);
  });

  test("is used for a mutation too, which takes effect once", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);

    const outcome = await world.change(account);

    expect(outcome).toBe("answered");
    expect(world.sent.map(({ method, key }) => [method, key])).toEqual([
      ["GET", FIRST_KEY],
      ["PATCH", FIRST_KEY],
      ["PATCH", SECOND_KEY],
    ]);
  });

  test("is read once for however many calls that are refused at once", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);

    await world.drive(
      Promise.all(Array.from({ length: 10 }, () => account.client.call(listStorageEvents, LIST))),
    );

    expect(world.secret.reads).toBe(2);
    expect(world.sent).toHaveLength(1 + 10 + 10);
  });

  test("is used by a call that was under way with the older one when another call read it", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);
    let answer = () => {};
    const held = new Promise<undefined>((resolve) => {
      answer = () => resolve(undefined);
    });
    world.answerNext(() => held);
    const slow = account.client.call(listStorageEvents, LIST);
    await world.clock.advance(0);
    await world.read(account);
    await world.clock.advance(8_000);
    const readsBefore = world.secret.reads;

    answer();
    await world.drive(slow);

    expect(readsBefore).toBe(2);
    expect(world.secret.reads).toBe(2);
  });

  test("has turns of its own in the budget when it is sent with again", async () => {
    const world = await createAccountWorld({ requestsPerSecond: 2 });
    const account = world.open();
    await world.read(account);
    rotate(world);

    await world.drive(
      Promise.all(Array.from({ length: 3 }, () => account.client.call(listStorageEvents, LIST))),
    );

    expect(world.sent).toHaveLength(1 + 3 + 3);
    expect(Math.max(...world.perSecond().values())).toBe(2);
  });
});

describe("a secret that cannot be read", () => {
  test("at first sends nothing, counts as no refusal, and is read again by the next call", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    world.secret.text = undefined;

    const away = await world.read(account);
    world.secret.text = FIRST_KEY;
    const back = await world.read(account);

    expect(away).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(back).toBe("answered");
    expect(world.sent).toHaveLength(1);
    expect(world.counted).toEqual([]);
  });

  test("after a refusal counts as none, for all that are refused within five seconds", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    world.secret.text = undefined;
    world.accept(SECOND_KEY);

    const outcomes = [await world.read(account), await world.read(account)];

    expect(outcomes).toMatchObject([
      { disposition: "transient", code: "key-unavailable" },
      { disposition: "transient", code: "key-unavailable" },
    ]);
    expect(world.secret.reads).toBe(2);
    expect(world.counted).toEqual([]);
    expect(world.told()).toEqual([]);
  });

  test("in five seconds sends nothing", async () => {
    const world = await createAccountWorld();
    const account = world.open({ secrets: { read: () => new Promise(() => {}) } });
    const startedAt = world.clock.now();

    const outcome = await world.read(account);

    expect(outcome).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(5_000);
    expect(world.sent).toEqual([]);
  });
});
