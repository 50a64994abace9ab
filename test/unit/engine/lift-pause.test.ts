import { expect, test } from "vitest";
import { liftPause } from "../../../lib/admin/operator-actions.ts";
import { readView } from "../../../lib/admin/status.ts";
import { newRateLimit, pauseRequests, rateLimits } from "../../../lib/provider/rate-limit.ts";
import { createFaults } from "../../support/faults.ts";
import { addOpenTasks } from "../../support/open-tasks.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const PAUSE_MS = 15 * 60_000;
const START = Date.UTC(2026, 0, 1);

const throttledOnce = () =>
  scriptProvider({
    "PATCH /": () => json(429, { message: "slow down" }, { "retry-after": "900" }),
  });

const pauseAccount = (world: World) =>
  rateLimits.change(world.ledger, "local", (rateLimit = newRateLimit("local")) =>
    pauseRequests(rateLimit, { now: world.clock.now(), until: world.clock.now() + PAUSE_MS }),
  );

const paused = async (around?: Parameters<typeof createWorld>[0]["around"]) => {
  const provider = throttledOnce();
  const world = await createWorld({ provider: () => provider, ...(around && { around }) });
  await world.handle(requests.updatePolicy("c1"));
  await pauseAccount(world);
  return { world, provider };
};

test("status shows when the account's pause ends, and nothing after that", async () => {
  const { world } = await paused();
  const viewAt = (now: number) => readView(world.ledger, "own/c1", now);

  const until = new Date(world.clock.now() + PAUSE_MS).toISOString();
  expect(await viewAt(world.clock.now())).toMatchObject({
    accountPausedUntil: until,
    waitsFor: { for: "next-attempt", until },
  });
  expect(await viewAt(START + 2 * PAUSE_MS)).not.toHaveProperty("accountPausedUntil");
});

test("a lifted pause sends its account's waiting commands at once", async () => {
  const { world, provider } = await paused();
  provider.answer("PATCH /", () => json(200, {}));

  const answer = await liftPause(world, "local");
  await world.poll(1_000);
  await world.deliver();

  const until = new Date(START + PAUSE_MS).toISOString();
  expect(answer).toEqual({ kind: "lifted", until, commands: 1 });
  expect(world.clock.now()).toBeLessThan(START + 60_000);
  expect((await world.command("c1"))?.state.status).toBe("succeeded");
});

test("a lifted pause sends waiting commands beside thousands of open tasks", async () => {
  const { world } = await paused();
  await addOpenTasks(world, 10_000);

  const answer = await liftPause(world, "local");

  expect(answer).toMatchObject({ kind: "lifted", commands: 1 });
});

test("commands of another account keep waiting", async () => {
  const { world } = await paused();
  const before = await world.ledger.read("command#own/c1");
  await rateLimits.change(world.ledger, "other", () => newRateLimit("other"));

  expect(await liftPause(world, "other")).toEqual({ kind: "not-paused", commands: 0 });
  expect(await world.ledger.read("command#own/c1")).toEqual(before);
});

test("a lift that died half-way can be repeated", async () => {
  const faults = createFaults();
  const { world } = await paused(faults.around);
  const { deps } = world.newInvocation();
  faults.strike(faults.calls.length + 5, "killed");

  await expect(liftPause(deps, "local")).rejects.toThrow();

  expect(await liftPause(world, "local")).toEqual({ kind: "not-paused", commands: 1 });
});

test("a command that cannot be read does not keep others waiting", async () => {
  const { world } = await paused();
  await world.ledger.write({
    key: "command#own/a-broken-one",
    version: 1,
    dueAt: START,
    value: { of: "another version" },
  });

  expect(await liftPause(world, "local")).toMatchObject({ kind: "lifted", commands: 1 });
  expect((await world.command("c1"))?.state).toMatchObject({ notBefore: world.clock.now() });
});
