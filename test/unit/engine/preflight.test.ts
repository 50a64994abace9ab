import { describe, expect, test } from "vitest";
import type { Account } from "../../../lib/provider/accounts.ts";
import { ProviderError, type ProviderErrorCode } from "../../../lib/provider/provider-error.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import { createRouter, PLACE, resumeInstance, updateContainer } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const NETWORK = { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
const GUARD = { network: NETWORK, key: "cost-center", equals: "platform" };
const TAG_TARGET = "GET /cloud/v1/networks/";
const tag = (value: string) => () => json(200, { key: "cost-center", value, read_only: false });
const endOf = (world: World) => world.bus.published().at(-1)!;
const inFuture = (from: World, ms: number) => new Date(from.clock.now() + ms).toISOString();

/** Calls to an account, in order: permits and requests. */
const watched = (kind: "ready" | "wait" = "ready") => {
  const asked: string[] = [];
  const ready: Account["ready"] = async (_signal, permits) => {
    asked.push(`permits ${permits}`);
    const until = Date.UTC(2026, 0, 1) + 5_000;
    return kind === "ready" ? { kind } : { kind, until, because: "budget-spent" };
  };
  return { asked, ready };
};

const worldOf = async (ready: Account["ready"], asked: string[]) =>
  createWorld({
    provider: startProvider,
    accounts: { local: { ready } },
    around: (call, effect) => {
      if (call.name.startsWith("fetch ")) asked.push(call.name.split("/").at(-1) ?? "");
      return effect();
    },
  });

describe("the permits of a command's requests", () => {
  test("are all acquired before the first guard is read", async () => {
    const { asked, ready } = watched();
    const world = await worldOf(ready, asked);

    await world.handle(resumeInstance("c1", { guards: [GUARD, GUARD] }));

    expect(asked).toEqual(["permits 3", "metadata_item", "metadata_item", "resume"]);
  });

  test("are those of the guards alone in a dry run, and none without guards", async () => {
    const { asked, ready } = watched();
    const world = await worldOf(ready, asked);

    await world.handle(resumeInstance("c1", { guards: [GUARD], dryRun: true }));
    await world.handle(resumeInstance("c2", { dryRun: true }));

    expect(asked).toEqual(["permits 1", "metadata_item"]);
  });

  test("delay the command without an attempt, and no guard is read before", async () => {
    const { asked, ready } = watched("wait");
    const world = await worldOf(ready, asked);

    await world.handle(resumeInstance("c1", { guards: [GUARD] }));

    const command = (await world.command("c1"))!;
    expect(asked).toEqual(["permits 2"]);
    expect(command.attemptCount).toBe(0);
    expect(command.state).toMatchObject({ status: "running", because: "budget-spent" });
  });

  test("delay the command until its deadline at most, and the event has the reason", async () => {
    const { asked, ready } = watched("wait");
    const world = await worldOf(ready, asked);
    const deadline = inFuture(world, 2_000);

    await world.handle(resumeInstance("c1", { deadline }));
    const waiting = (await world.command("c1"))!;
    await world.untilQuiet();

    expect(waiting.state).toMatchObject({ notBefore: Date.parse(deadline) });
    expect(endOf(world).data).toMatchObject({
      reason: "deadline",
      attempts: 0,
      problems: [
        { path: "deadline", rule: "passed while the command could not be sent: budget-spent" },
      ],
    });
  });
});

describe("a call that failed", () => {
  test.each([
    "budget-spent",
    "budget-unavailable",
    "key-refused",
    "key-unavailable",
    "paused",
  ] as const)(
    "because of %s sent nothing, and counts as no attempt",
    async (code: ProviderErrorCode) => {
      const error = new ProviderError({
        disposition: "transient",
        code,
        message: "not sent",
        retryAfterMs: 7_000,
      });
      const client = { call: () => Promise.reject(error) };
      const world = await createWorld({ provider: startProvider, accounts: { local: { client } } });

      await world.handle(resumeInstance("c1"));

      const command = (await world.command("c1"))!;
      expect([command.attemptCount, command.attempts]).toEqual([0, []]);
      expect(command.state).toMatchObject({
        because: code,
        notBefore: world.clock.now() + 7_000,
      });
    },
  );

  test("with an answer of the provider counts as an attempt", async () => {
    const provider = scriptProvider({ "POST ": () => json(401, { message: "no" }) });
    const world = await createWorld({ provider: () => provider });

    await world.handle(resumeInstance("c1"));

    expect((await world.command("c1"))?.attemptCount).toBe(1);
  });
});

describe("after a lost reply no event says that nothing took effect", () => {
  test("when the provider refuses to show a guard's tag", async () => {
    let tags = 0;
    const provider = scriptProvider({
      [TAG_TARGET]: () => {
        tags += 1;
        return tags === 1 ? tag("platform")() : json(403, { message: "no" });
      },
      "PATCH ": () => connectionLost(),
    });
    const world = await createWorld({ provider: () => provider });

    await world.handle(updateContainer("c1", {}, { guards: [GUARD] }));
    await world.untilQuiet();

    expect(endOf(world).data).toMatchObject({ reason: "unknown-outcome", lostReplies: 1 });
  });

  test("when the account has been removed", async () => {
    const accounts: Record<string, object> = { local: {} };
    const provider = scriptProvider({ "PATCH ": () => connectionLost() });
    const world = await createWorld({ provider: () => provider, accounts });
    await world.handle(updateContainer("c1"));
    delete accounts.local;

    await world.untilQuiet();

    expect(endOf(world).data).toMatchObject({ reason: "unknown-outcome", lostReplies: 1 });
  });

  test("and no guard stops the search for a router", async () => {
    const provider = scriptProvider({
      [TAG_TARGET]: tag("platform"),
      "POST /cloud/v1/routers/": () => connectionLost(),
      "GET /cloud/v1/tasks": () => json(200, { count: 0, results: [] }),
    });
    const world = await createWorld({ provider: () => provider });
    await world.handle(createRouter("c1", {}, { guards: [GUARD] }));
    provider.answer(TAG_TARGET, tag("games"));

    await world.pass(60_000);

    expect((await world.command("c1"))?.state.status).toBe("running");
    expect(provider.count(TAG_TARGET)).toBe(1);
  });
});

test("a pause that the provider asks for at a guard is obeyed", async () => {
  const provider = scriptProvider({
    [TAG_TARGET]: () => json(429, { message: "slow down" }, { "retry-after": "40" }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.handle(resumeInstance("c1", { guards: [GUARD] }));

  expect((await world.command("c1"))?.state).toMatchObject({
    notBefore: world.clock.now() + 40_000,
    because: "throttled",
  });
});

test("a guard that cannot be read delays no command beyond the deadline", async () => {
  const provider = scriptProvider({
    [TAG_TARGET]: () => json(429, { message: "slow down" }, { "retry-after": "40" }),
  });
  const world = await createWorld({ provider: () => provider });
  const deadline = inFuture(world, 10_000);

  await world.handle(resumeInstance("c1", { guards: [GUARD], deadline }));

  expect((await world.command("c1"))?.state).toMatchObject({ notBefore: Date.parse(deadline) });
});

test("a tag that is larger than the contract allows is reported in part", async () => {
  const provider = scriptProvider({ [TAG_TARGET]: tag("x".repeat(500_000)) });
  const world = await createWorld({ provider: () => provider });

  await world.handle(resumeInstance("c1", { guards: [GUARD] }));

  expect(endOf(world).data.tag.value.length).toBeLessThan(600);
});
