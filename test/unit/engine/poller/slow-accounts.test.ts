import { expect, test } from "vitest";
import { connectionLost, json, scriptProvider } from "../../../support/provider.ts";
import { requestOf, updatePolicy } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const READ_SLOW = "GET /v1/tasks/slow-";

/** A command with a task of the same name. */
const update = (name: string, account: string) =>
  requestOf(name, {
    account,
    operation: "update-container",
    params: { project_id: 1, region_id: 1, container_name: name },
    body: {},
  });

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `slow-${index}`);

type Read = (world: World) => Promise<Response>;

/** Waits ten seconds without an answer. */
const noAnswer: Read = async ({ clock }) => {
  await clock.sleep(10_000);
  throw connectionLost();
};
const never: Read = () => new Promise(() => undefined);

/** Tasks of these accounts, with reads that end as given; every other task has finished. */
const start = async (slow: readonly (readonly [name: string, account: string])[], read: Read) => {
  const provider = scriptProvider({
    "PATCH ": ({ target }) => json(200, { tasks: [target.split("/").at(-1)] }),
    "PATCH /cloud/v3/": () => json(429, {}, { "retry-after": "4" }),
    "GET /v1/tasks/": () => json(200, { id: "t", state: "FINISHED" }),
    [READ_SLOW]: () => read(world),
  });
  const accounts = Object.fromEntries(slow.map(([, account]) => [account, { canList: false }]));
  const world: World = await createWorld({
    provider: () => provider,
    accounts: { ...accounts, local: {} },
  });
  for (const [name, account] of slow) await world.handle(update(name, account));
  return { world, provider };
};

const ofOneAccount = names(30).map((name) => [name, "slow"] as const);

const durationOf = (world: World, commandId: string) =>
  world.bus
    .published()
    .find(
      ({ detailType, metadata }) =>
        detailType === "CommandSucceeded" && metadata.commandId === commandId,
    )?.data.durationMs;

test("an account that gives no answer delays no check of another account's task", async () => {
  const { world } = await start(ofOneAccount, noAnswer);
  await world.handle(update("c1", "local"));

  await world.poll();

  expect(durationOf(world, "c1")).toBeLessThanOrEqual(3_000);
});

test("a task that becomes due while an account gives no answer is checked at once", async () => {
  const { world } = await start(ofOneAccount, noAnswer);
  await world.clock.advance(2_000);
  const run = world.poll();
  await world.handle(update("c1", "local"));

  await run;

  expect(durationOf(world, "c1")).toBeLessThanOrEqual(4_000);
});

test("a command that is due does not wait for an account that gives no answer", async () => {
  const { world, provider } = await start(ofOneAccount, noAnswer);
  const policy = updatePolicy("p1");
  await world.handle({ ...policy, data: { ...policy.data, account: "local" } });
  provider.answer("PATCH ", () => json(200, {}));

  await world.poll();

  expect(durationOf(world, "p1")).toBeLessThanOrEqual(6_000);
});

test("an account gets no further request in a round after a broken connection", async () => {
  const { world, provider } = await start(ofOneAccount, () => Promise.reject(connectionLost()));
  await world.clock.advance(2_000);

  await world.poll(1_000);

  expect(provider.count(READ_SLOW)).toBe(5);
});

test("tasks that were skipped after a broken connection are read soon", async () => {
  let reads = 0;
  const brokenAtFirst: Read = async () => {
    reads += 1;
    if (reads === 1) throw connectionLost();
    return json(200, { id: "slow", state: "FINISHED" });
  };
  const { world } = await start(ofOneAccount, brokenAtFirst);
  await world.clock.advance(600_000);

  await world.poll(5_000);

  expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(29);
});

test("tasks without an answer do not hide another task of the account for ever", async () => {
  const { world } = await start(ofOneAccount, noAnswer);
  await world.handle(update("c1", "slow"));

  await world.pass(600_000);

  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

test("a read that never ends is given up, and the account's other tasks are checked", async () => {
  const { world } = await start([["slow-0", "slow"]], never);
  await world.clock.advance(2_000);
  const run = world.poll();
  await world.handle(update("c1", "slow"));

  await run;

  expect(durationOf(world, "c1")).toBeLessThanOrEqual(14_000);
});

test("more accounts in trouble than the limit leave room for the others", async () => {
  const each = names(45).map((name, index) => [name, `account-${index}`] as const);
  const { world } = await start(each, never);
  await world.handle(update("c1", "local"));

  await world.poll();

  expect(durationOf(world, "c1")).toBeLessThanOrEqual(15_000);
});
