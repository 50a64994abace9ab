import { describe, expect, test } from "vitest";
import { createLossyWorld } from "../../support/lost-replies.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { PLACE, resumeInstance, SUSPENDED_INSTANCE } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const NETWORK = { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
const FLOATING_IP = { ...PLACE, floating_ip_id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82d" };
const NO_NETWORK = { ...PLACE, network_id: "00000000-0000-0000-0000-000000000000" };

/** The built-in network and floating IP have `cost-center: platform` and no `owner`. */
const guarded = (...guards: readonly object[]) => resumeInstance("c1", { guards });

const endOf = (world: World) => world.bus.published().at(-1)!;

const GUARD_TARGET = `GET /cloud/v1/networks/${PLACE.project_id}/${PLACE.region_id}/`;
const RESUME_TARGET = "POST /cloud/v1/instances/";

describe.each([
  ["a network", { network: NETWORK }],
  ["a floating IP", { floating_ip: FLOATING_IP }],
])("a guard on a tag of %s", (_what, resource) => {
  test.each([
    ["has the value", { key: "cost-center", equals: "platform" }],
    ["has another value", { key: "cost-center", not: "games" }],
    ["is not there, and must not have a value", { key: "owner", not: "games" }],
    ["is there", { key: "cost-center", exists: true }],
    ["is absent", { key: "owner", absent: true }],
  ])("lets the command run when it %s", async (_when, condition) => {
    const world = await createWorld({ provider: startProvider });

    await world.handle(guarded({ ...resource, ...condition }));

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test.each([
    ["has another value", { key: "cost-center", equals: "games" }, 'must be "games"'],
    ["is not there", { key: "owner", equals: "games" }, 'must be "games"'],
    ["has the value", { key: "cost-center", not: "platform" }, 'must not be "platform"'],
    ["does not exist", { key: "owner", exists: true }, "must exist"],
    ["is there after all", { key: "cost-center", absent: true }, "must not exist"],
  ])("cancels the command when it %s, and shows the tag", async (_when, condition, rule) => {
    const world = await createWorld({ provider: startProvider });

    await world.handle(guarded({ ...resource, ...condition }));

    const { detailType, data } = endOf(world);
    const tag = { key: "cost-center", value: "platform", read_only: false };
    expect([detailType, data.reason]).toEqual(["CommandCancelled", "guard"]);
    expect(data.problems).toEqual([{ path: "guards.0", rule: `tag ${condition.key} ${rule}` }]);
    expect(data.tag).toEqual(condition.key === "owner" ? null : tag);
    expect(data.attempts).toBe(0);
    const instances = await (world.provider as Awaited<ReturnType<typeof startProvider>>).records(
      "instances",
    );
    expect(instances.find(({ id }) => id === SUSPENDED_INSTANCE).vm_state).toBe("suspended");
  });
});

test("a resource that does not exist has no tags", async () => {
  const world = await createWorld({ provider: startProvider });

  await world.handle(guarded({ network: NO_NETWORK, key: "owner", exists: true }));

  expect(endOf(world).data).toMatchObject({ reason: "guard", tag: null });
});

test("all guards have to hold, and the event names the first that does not", async () => {
  const world = await createWorld({ provider: startProvider });
  const holds = { network: NETWORK, key: "cost-center", equals: "platform" };

  await world.handle(guarded(holds, { floating_ip: FLOATING_IP, key: "owner", exists: true }));

  expect(endOf(world).data.problems).toEqual([{ path: "guards.1", rule: "tag owner must exist" }]);
});

test("a guard is read before each request, not once", async () => {
  let value = "open";
  let resumes = 0;
  const provider = scriptProvider({
    [GUARD_TARGET]: () => json(200, { key: "gate", value, read_only: false }),
    [RESUME_TARGET]: () => {
      resumes += 1;
      value = "shut";
      return json(429, { message: "slow down" }, { "retry-after": "30" });
    },
  });
  const world = await createWorld({ provider: () => provider });

  await world.handle(guarded({ network: NETWORK, key: "gate", equals: "open" }));
  await world.untilQuiet();

  expect(resumes).toBe(1);
  expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandCancelled"]);
});

test("a command that waits in its lane is guarded by the tag of the moment when it holds the lane", async () => {
  let value = "shut";
  const provider = scriptProvider({
    [GUARD_TARGET]: () => json(200, { key: "gate", value, read_only: false }),
    [RESUME_TARGET]: () => {
      value = "open";
      return json(200, { count: 0, results: [] });
    },
  });
  const world = await createWorld({ provider: () => provider });

  await world.send(resumeInstance("c0"));
  await world.send(guarded({ network: NETWORK, key: "gate", equals: "open" }));
  await world.untilQuiet();

  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

test("a tag that cannot be read now is read again, and nothing is sent before", async () => {
  let reads = 0;
  const provider = scriptProvider({
    [GUARD_TARGET]: () => {
      reads += 1;
      return reads < 4
        ? json(503, {})
        : json(200, { key: "gate", value: "open", read_only: false });
    },
    [RESUME_TARGET]: () => json(200, { count: 0, results: [] }),
  });
  const world = await createWorld({ provider: () => provider });

  await world.handle(guarded({ network: NETWORK, key: "gate", equals: "open" }));
  const waiting = await world.command("c1");
  await world.untilQuiet();

  expect(waiting?.state).toMatchObject({ status: "running", because: "server-error" });
  expect(provider.count(RESUME_TARGET)).toBe(1);
  expect(endOf(world).data.attempts).toBe(1);
});

test("a tag that may not be read fails the command", async () => {
  const provider = scriptProvider({ [GUARD_TARGET]: () => json(403, { message: "no" }) });
  const world = await createWorld({ provider: () => provider });

  await world.handle(guarded({ network: NETWORK, key: "gate", equals: "open" }));

  const { detailType, data } = endOf(world);
  expect([detailType, data.reason]).toEqual(["CommandFailed", "refused"]);
  expect(data.problems).toEqual([{ path: "guards.0", rule: "get-network-tag: 403 forbidden: no" }]);
});

test("a tag that cannot be read before the deadline prevents the send", async () => {
  const provider = scriptProvider({ [GUARD_TARGET]: () => json(503, {}) });
  const world = await createWorld({ provider: () => provider });

  await world.handle(guarded({ network: NETWORK, key: "gate", equals: "open" }));
  await world.untilQuiet();

  expect(endOf(world).data).toMatchObject({ reason: "deadline", attempts: 0 });
});

test("after a lost reply a guard that fails ends the command with an unknown outcome, and nothing is sent", async () => {
  const { world, sent } = await createLossyWorld(["the connection breaks after the effect"]);
  await world.handle(guarded({ network: NETWORK, key: "cost-center", equals: "platform" }));
  const command = (await world.command("c1"))!;
  const guards = [{ network: NETWORK, key: "cost-center", equals: "games" }];
  const item = (await world.ledger.read(`command#own/c1`))!;
  await world.ledger.write({
    ...item,
    version: item.version + 1,
    value: { ...item.value, guards },
  });

  await world.untilQuiet();

  expect(command.uncertain).toBeDefined();
  expect(sent()).toBe(1);
  expect(endOf(world).data).toMatchObject({ reason: "unknown-outcome", lostReplies: 1 });
});
