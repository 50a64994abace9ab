import { beforeEach, describe, expect, test } from "vitest";
import { createGate } from "../../support/gate.ts";
import { json } from "../../support/provider.ts";
import { type AccountWorld, createAccountWorld, FIRST_KEY, SECOND_KEY } from "./account-world.ts";
import { everythingIn } from "./open-client.ts";

let world: AccountWorld;
let startedAt: number;

const at = (ms: number): string => new Date(startedAt + ms).toISOString();
const until = (ms: number): Promise<void> =>
  world.clock.advance(startedAt + ms - world.clock.now());

beforeEach(async () => {
  world = await createAccountWorld();
  startedAt = world.clock.now();
});

describe("a key that the provider refuses", () => {
  test("is a transient error, and is published once for all processes", async () => {
    const [one, other] = [world.open(), world.open()];
    await world.read(one);
    await world.read(other);
    world.accept();

    const first = await world.read(one);
    await world.drive(Promise.all([world.change(other), world.change(one)]));

    expect(first).toMatchObject({ disposition: "transient", code: "key-refused", status: 401 });
    expect(world.published()).toEqual([["AccountKeyRefused", { since: at(0) }]]);
    expect(world.bus.published()[0]?.metadata).toMatchObject({ account: "acme" });
  });

  test("is counted for each refused request", async () => {
    const account = world.open();
    world.accept();

    await world.read(account);
    await until(30_000);
    await world.read(account);

    expect(world.counted).toEqual([
      'AccountKeyRefused {"account":"acme"}',
      'AccountKeyRefused {"account":"acme"}',
    ]);
  });

  test("blocks all requests until the next half-open probe", async () => {
    world.accept();
    await world.read(world.open());
    const other = world.open();

    const readiness = await world.ready(other);
    const outcome = await world.read(other);

    expect(readiness).toEqual({
      kind: "wait",
      until: startedAt + 30_000,
      because: "key-refused",
    });
    expect(outcome).toMatchObject({
      disposition: "throttled",
      code: "key-refused",
      status: undefined,
      retryAfterMs: 30_000,
    });
    expect(world.sent).toHaveLength(1);
  });

  test("allows one half-open probe every thirty seconds for all processes", async () => {
    const accounts = [world.open(), world.open(), world.open()];
    world.accept();

    for (let second = 0; second <= 100; second += 5) {
      await until(second * 1_000);
      for (const account of accounts) await world.read(account);
    }

    expect(world.sent.map((request) => request.at - startedAt)).toEqual([
      0, 30_000, 60_000, 90_000,
    ]);
  });

  test("invalidates permits that were granted before", async () => {
    const account = world.open();
    world.accept();
    await world.ready(account);
    await world.ready(account);

    await world.read(account);
    const next = await world.read(account);

    expect(next).toMatchObject({ disposition: "throttled", code: "key-refused" });
    expect(world.sent).toHaveLength(1);
  });

  test("is read again at most once in five seconds", async () => {
    const account = world.open();
    await world.read(account);
    world.accept();
    world.answerNext(() => json(401, {}));
    world.answerNext(() => json(401, {}));

    const both = [world.read(account), world.read(account)];
    await Promise.all(both);

    expect(world.secret.reads).toBe(2);
  });
});

describe("when the key is accepted again", () => {
  test("the acceptance is published once, and all requests continue at once", async () => {
    const accounts = [world.open(), world.open()] as const;
    world.accept();
    await world.read(accounts[0]);
    world.secret.text = SECOND_KEY;
    world.accept(SECOND_KEY);
    await until(30_000);

    const probe = await world.read(accounts[0]);
    const others = [await world.read(accounts[1]), await world.read(accounts[0])];

    expect([probe, ...others]).toEqual(["answered", "answered", "answered"]);
    expect(world.published()).toEqual([
      ["AccountKeyRefused", { since: at(0) }],
      ["AccountKeyAccepted", { since: at(30_000), refusedSince: at(0) }],
    ]);
  });

  test("a process without a refusal of its own publishes the acceptance", async () => {
    world.accept();
    await world.read(world.open());
    world.secret.text = SECOND_KEY;
    world.accept(SECOND_KEY);
    await until(30_000);

    await world.read(world.open());

    expect(world.published().map(([detailType]) => detailType)).toEqual([
      "AccountKeyRefused",
      "AccountKeyAccepted",
    ]);
  });

  test("but refused again while a process is suspended, the process changes nothing", async () => {
    const gate = createGate();
    world = await createAccountWorld({ around: gate.around });
    startedAt = world.clock.now();
    const [suspended, other] = [world.open(), world.open()];
    world.accept();
    await world.read(suspended);
    await until(30_000);
    world.accept(FIRST_KEY);
    const held = new Promise<ReturnType<typeof gate.hold>>((resolve) => {
      world.answerNext(() => {
        resolve(gate.hold("ledger.read budget#"));
        return undefined;
      });
    });
    const probe = world.read(suspended);
    const { reached, open } = await held;
    await reached;
    await until(61_000);
    await world.read(other);
    world.accept();
    await until(130_000);
    await world.read(other);

    open();

    expect(await probe).toBe("answered");
    expect((await world.rateLimit())?.key.state).toBe("refused");
  });

  test("and is refused later, a new episode begins", async () => {
    const account = world.open();
    world.accept();
    await world.read(account);
    world.accept(FIRST_KEY);
    await until(30_000);
    await world.read(account);
    world.accept();
    await until(40_000);
    await world.read(account);
    world.accept(FIRST_KEY);
    await until(70_000);
    await world.read(account);

    expect(world.published()).toEqual([
      ["AccountKeyRefused", { since: at(0) }],
      ["AccountKeyAccepted", { since: at(30_000), refusedSince: at(0) }],
      ["AccountKeyRefused", { since: at(40_000) }],
      ["AccountKeyAccepted", { since: at(70_000), refusedSince: at(40_000) }],
    ]);
  });

  test.each([
    [400, true],
    [404, true],
    [401, false],
    [403, false],
    [408, false],
    [429, false],
    [502, false],
  ])("a %i closes the circuit breaker: %s", async (status, isShown) => {
    const account = world.open();
    world.accept();
    await world.read(account);
    await until(30_000);
    world.answerNext(() => json(status, {}));

    await world.read(account);

    expect(world.published()).toHaveLength(isShown ? 2 : 1);
  });
});

test("the key's text is in no error, event, log line, count or ledger item", async () => {
  const account = world.open();
  world.answerNext(() => json(401, { message: `bad key ${FIRST_KEY}` }));
  const refused = await world.read(account);
  world.secret.text = SECOND_KEY;
  await until(30_000);
  world.bus.refuse(() => true);
  world.answerNext(() => json(401, { message: `bad key ${FIRST_KEY}` }));
  world.answerNext(() => json(401, { message: `bad key ${SECOND_KEY}` }));
  const again = await world.read(account);
  world.accept(SECOND_KEY);
  await until(60_000);
  await world.read(account);
  world.bus.refuse(() => false);
  await world.publishDue();

  const printed = [
    ...[refused, again].map(everythingIn),
    JSON.stringify([world.bus.published(), world.log.lines, world.counted]),
    JSON.stringify(await world.ledger.read("budget#acme")),
  ].join("\n");

  expect(world.sent.map(({ key }) => key)).toEqual([FIRST_KEY, FIRST_KEY, SECOND_KEY, SECOND_KEY]);
  expect(world.published()).toHaveLength(2);
  expect(printed).not.toContain("canary");
  expect(printed).not.toContain("a1b2c3");
  expect(printed).not.toContain("f6e5d4");
});
