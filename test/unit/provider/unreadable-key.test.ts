import { beforeEach, describe, expect, test } from "vitest";
import { type AccountWorld, createAccountWorld, FIRST_KEY, SECOND_KEY } from "./account-world.ts";
import { everythingIn } from "./open-client.ts";

/** A text that HTTP headers do not allow, and that may contain a key. */
const UNSENDABLE = "canary put later";
const UNREADABLE = 'AccountKeyUnreadable {"account":"acme"}';
const REFUSED = 'AccountKeyRefused {"account":"acme"}';

let world: AccountWorld;
let account: ReturnType<AccountWorld["open"]>;

beforeEach(async () => {
  world = await createAccountWorld();
  account = world.open();
});

const errorLine = (errorMessage: string) => ({
  level: "error",
  message: "API key not readable; the account sends nothing until it is",
  fields: { account: "acme", reference: "/acme/key", errorMessage },
});

describe.each([
  ["a secret that cannot be read", undefined, "secret /acme/key cannot be read"],
  [
    "a key that HTTP headers do not allow",
    UNSENDABLE,
    "the API key in /acme/key has characters that HTTP headers do not allow",
  ],
])("%s", (_, text, errorMessage) => {
  beforeEach(() => {
    world.secret.text = text;
  });

  test("sends nothing, opens no circuit breaker, and is logged and counted", async () => {
    const outcome = await world.read(account);

    expect(outcome).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(world.sent).toEqual([]);
    expect(world.published()).toEqual([]);
    expect(world.counted).toEqual([UNREADABLE]);
    expect(world.log.lines).toEqual([errorLine(errorMessage)]);
  });

  test("is read and logged once in five seconds", async () => {
    for (const _ of [1, 2, 3]) await world.read(account);
    await world.clock.advance(4_999);
    await world.read(account);
    const early = world.secret.reads;
    await world.clock.advance(1);
    await world.read(account);

    expect(early).toBe(1);
    expect(world.secret.reads).toBe(2);
    expect(world.counted).toEqual([UNREADABLE, UNREADABLE]);
    expect(world.log.lines).toHaveLength(2);
  });

  test("is used five seconds after it was corrected, without a restart", async () => {
    await world.read(account);
    world.secret.text = FIRST_KEY;
    await world.clock.advance(5_000);

    const outcome = await world.read(account);

    expect(outcome).toBe("answered");
  });

  test("after a refusal keeps the circuit breaker open, with a half-open probe every 30 seconds", async () => {
    world.secret.text = FIRST_KEY;
    await world.read(account);
    const startedAt = world.clock.now();
    world.secret.text = text;
    world.accept(SECOND_KEY);

    const outcome = await world.change(account);
    for (let second = 1; second <= 61; second += 1) {
      await world.clock.advance(1_000);
      await world.read(account);
    }

    expect(outcome).toMatchObject({ disposition: "transient", code: "key-refused", status: 401 });
    expect(world.sent.slice(1).map(({ at }) => at - startedAt)).toEqual([0, 30_000, 60_000]);
    expect(world.published().map(([detailType]) => detailType)).toEqual(["AccountKeyRefused"]);
    expect(world.counted.filter((name) => name === REFUSED)).toHaveLength(3);
  });

  test("after a refusal is used by the next half-open probe once it is corrected", async () => {
    world.secret.text = FIRST_KEY;
    await world.read(account);
    world.secret.text = text;
    world.accept(SECOND_KEY);
    await world.read(account);
    world.secret.text = SECOND_KEY;
    await world.clock.advance(30_000);

    const outcome = await world.read(account);

    expect(outcome).toBe("answered");
    expect(world.published().map(([detailType]) => detailType)).toEqual([
      "AccountKeyRefused",
      "AccountKeyAccepted",
    ]);
  });
});

test("a key that HTTP headers do not allow is in no error, log line or metric", async () => {
  world.secret.text = UNSENDABLE;

  const error = await world.read(account);

  const printed = [everythingIn(error), JSON.stringify([world.log.lines, world.counted])].join();
  expect(printed).not.toContain("canary");
});

test("a read of the secret that takes more than five seconds sends nothing and is logged", async () => {
  const slow = world.open({ secrets: { read: () => new Promise(() => {}) } });
  const startedAt = world.clock.now();

  const outcome = await world.read(slow);

  expect(outcome).toMatchObject({ disposition: "transient", code: "key-unavailable" });
  expect(world.clock.now() - startedAt).toBeGreaterThanOrEqual(5_000);
  expect(world.sent).toEqual([]);
  expect(world.log.lines).toEqual([
    errorLine("reading the API key in /acme/key timed out after 5000 ms"),
  ]);
});
