import { describe, expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { createAccountWorld, FIRST_KEY, LIST, SECOND_KEY, THIRD_KEY } from "./account-world.ts";

type AccountWorld = Awaited<ReturnType<typeof createAccountWorld>>;

const rotate = (world: AccountWorld): void => {
  world.secret.text = SECOND_KEY;
  world.accept(SECOND_KEY);
};

/** Starts a call with a late reply. Meanwhile another call is refused and reads the key again. */
const overtakeCall = async (world: AccountWorld, account: ReturnType<AccountWorld["open"]>) => {
  const late = await world.readLate(account);
  await world.read(account);
  await world.clock.advance(8_000);
  return late;
};

test("the key is read at the first call, and cached", async () => {
  const world = await createAccountWorld();
  const account = world.open();
  const readsBefore = world.secret.reads;

  await world.read(account);
  await world.clock.advance(3_600_000);
  await world.read(account);

  expect(readsBefore).toBe(0);
  expect(world.secret.reads).toBe(1);
});

describe("a replaced key", () => {
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
    expect(world.published()).toEqual([]);
  });

  test("is used for a mutation, which takes effect once", async () => {
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

  test("is read once for concurrent refusals", async () => {
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

  test("is used by a call that began with the old key before another call read the new one", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);
    const { slow, answer } = await overtakeCall(world, account);
    const readsBefore = world.secret.reads;

    answer();
    await world.drive(slow);

    expect(readsBefore).toBe(2);
    expect(world.secret.reads).toBe(2);
  });

  test("needs further permits for the requests that are sent again", async () => {
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

  test("without a further permit, the error stays a refusal", async () => {
    let isAway = false;
    const world = await createAccountWorld({
      around: ({ name }, effect) =>
        isAway && name.startsWith("ledger") ? Promise.reject(new Error("away")) : effect(),
    });
    const account = world.open();
    await world.read(account);
    rotate(world);
    world.answerNext(() => {
      isAway = true;
      return undefined;
    });

    const outcome = await world.change(account);

    expect(outcome).toMatchObject({ code: "key-refused", status: 401, disposition: "transient" });
    expect(world.sent.map(({ key }) => key)).toEqual([FIRST_KEY, FIRST_KEY]);
  });

  test("that was replaced twice is used by a call that was sent with both old keys", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    await world.read(account);
    rotate(world);
    const { slow, answer } = await overtakeCall(world, account);
    world.secret.text = THIRD_KEY;
    world.accept(THIRD_KEY);

    answer();
    await world.drive(slow);

    expect(world.sent.slice(-3).map(({ key }) => key)).toEqual([SECOND_KEY, SECOND_KEY, THIRD_KEY]);
  });

  test("is used if the secrets end with a line end", async () => {
    const world = await createAccountWorld();
    const account = world.open();
    world.secret.text = `${FIRST_KEY}\n`;
    await world.read(account);
    rotate(world);
    world.secret.text = `${SECOND_KEY}\n`;

    const outcome = await world.read(account);

    expect(outcome).toBe("answered");
  });

  test("gets its permit before waiting requests with the old key", async () => {
    const world = await createAccountWorld();
    const startedAt = world.clock.now();
    const account = world.open({ attemptTimeoutMs: 60_000 });
    let answer = () => {};
    const late = new Promise<undefined>((resolve) => {
      answer = () => resolve(undefined);
    });
    world.answerNext(() => late);
    const slow = account.client.call(listStorageEvents, LIST);
    await world.clock.advance(0);
    world.accept();
    await world.read(world.open());
    await world.clock.advance(26_000);
    const waiting = Array.from({ length: 5 }, () => account.client.call(listStorageEvents, LIST));
    await world.clock.advance(1_000);
    rotate(world);
    const sentBefore = world.sent.length;

    answer();
    await world.drive(slow);
    const sent = world.sent.slice(sentBefore).map(({ key }) => key);
    const granted = (await world.rateLimit())?.granted;
    await world.drive(Promise.all(waiting));

    expect(sent).toEqual([SECOND_KEY]);
    expect(granted).toBe(1);
    expect(world.clock.now()).toBeGreaterThanOrEqual(startedAt + 30_000);
  });
});
