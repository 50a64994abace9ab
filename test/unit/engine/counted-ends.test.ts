import { expect, test } from "vitest";
import { checkCommand } from "../../../lib/engine/advance.ts";
import { ATTEMPT_LEASE_MS } from "../../../lib/platform/deployment.ts";
import type { Around } from "../../support/faults.ts";
import { createGate } from "../../support/gate.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { createRouter, PLACE, updateContainer, updatePolicyWith } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const GUARD = { network: { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" } };

const policyDone = () => json(200, { id: 1, name: "nightly", status: "paused" });
const worldOf = (answers: Parameters<typeof scriptProvider>[0] = {}) =>
  createWorld({ provider: () => scriptProvider(answers) });
const inFuture = (world: World, ms: number) => new Date(world.clock.now() + ms).toISOString();
const durations = (world: World) =>
  world.measured.flatMap(({ name, value }) => (name === "CommandDuration" ? [value] : []));

test("a command that succeeds is counted with the time that it took", async () => {
  const world = await worldOf({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
  });

  await world.handle(updateContainer("c1"));
  await world.clock.advance(2_000);
  await world.poll(1_000);

  expect(world.counted).toEqual(["CommandEnded succeeded", "PollerRan"]);
  expect(durations(world)).toEqual([2_000]);
});

test("a refused command is counted as failed, and as nothing more", async () => {
  const world = await worldOf({ "PATCH ": () => json(400, { message: "no" }) });

  await world.handle(updatePolicyWith("c1", {}));

  expect(world.counted).toEqual(["CommandEnded failed"]);
  expect(durations(world)).toEqual([0]);
});

test("a command that a guard stops is counted as cancelled", async () => {
  const world = await worldOf();

  await world.handle(updatePolicyWith("c1", { guards: [{ ...GUARD, key: "paid", exists: true }] }));

  expect(world.counted).toEqual(["CommandEnded cancelled"]);
});

test("a command whose task still runs at its deadline is counted for an operator", async () => {
  const world = await worldOf({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
  });

  await world.handle(updateContainer("c1", {}, { deadline: inFuture(world, 60_000) }));
  await world.clock.advance(60_000);
  await world.poll(1_000);

  expect(world.counted).toEqual(["CommandEnded failed", "TaskPastDeadline", "PollerRan"]);
  expect(durations(world)).toEqual([60_000]);
});

test("a deadline that passes before the first send is not counted as one of a task", async () => {
  const world = await worldOf({ "PATCH ": () => json(429, {}, { "retry-after": "600" }) });

  await world.handle(updateContainer("c1", {}, { deadline: inFuture(world, 60_000) }));
  await world.clock.advance(60_000);
  await world.poll(1_000);

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
  expect(world.counted).toEqual(["CommandEnded failed", "PollerRan"]);
});

test("an end with an unknown outcome is counted for an operator", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: () => scriptProvider({}), around: gate.around });
  const deadline = inFuture(world, ATTEMPT_LEASE_MS / 2);
  gate.hold("fetch POST");

  void world.handle(createRouter("c1", {}, { deadline }));
  await world.clock.advance(ATTEMPT_LEASE_MS);
  await world.poll(1_000);

  expect(world.counted).toEqual(["CommandEnded failed", "UnknownOutcome", "PollerRan"]);
});

test("a rejection is counted when it is published, without a duration", async () => {
  const world = await worldOf();
  world.bus.refuse(() => true);
  const invalid = updateContainer("c1", { timeout: 999 });

  await expect(world.handle(invalid)).rejects.toThrow("could not be published");
  const before = [...world.counted];
  world.bus.refuse(() => false);
  await world.handle(invalid);

  expect(before).toEqual([]);
  expect(world.counted).toEqual(["CommandEnded rejected"]);
  expect(durations(world)).toEqual([]);
});

test("an end that is published only at the second try is counted once", async () => {
  const world = await worldOf({ "PATCH ": policyDone });
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
  await world.handle(updatePolicyWith("c1", {}));
  const atFirst = [...world.counted];
  world.bus.refuse(() => false);

  await world.handle(updatePolicyWith("c1", {}));
  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  expect(atFirst).toEqual(["CommandEnded succeeded"]);
  expect(world.counted.filter((name) => name !== "PollerRan")).toEqual(["CommandEnded succeeded"]);
});

test("of two runs that end a command at the same time one counts it", async () => {
  const gate = createGate();
  const throttled = scriptProvider({ "PATCH ": () => json(429, {}, { "retry-after": "600" }) });
  const world = await createWorld({ provider: () => throttled, around: gate.around });
  await world.handle(updateContainer("c1", {}, { deadline: inFuture(world, 60_000) }));
  await world.clock.advance(60_000);
  const ending = gate.hold("ledger.write command#own/c1");

  const slow = checkCommand(world.newInvocation().deps, "own/c1");
  await ending.reached;
  await checkCommand(world.newInvocation().deps, "own/c1");
  ending.open();
  await slow;

  expect(world.counted).toEqual(["CommandEnded failed"]);
  expect(durations(world)).toEqual([60_000]);
});

test("a command that gets its task's end again is counted once", async () => {
  let writes = 0;
  const around: Around = ({ name }, effect) => {
    if (name !== "ledger.write task#local/t1") return effect();
    writes += 1;
    // The second write records that the events of the end are published.
    return writes === 2 ? Promise.reject(new Error("away")) : effect();
  };
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider, around });
  await world.handle(updateContainer("c1"));

  await world.untilQuiet();

  expect(world.publishedTypes("c1").filter((type) => type === "TaskFinished")).toHaveLength(2);
  const counted = world.counted.filter((name) => name !== "PollerRan");
  expect(counted).toEqual(["CommandEnded succeeded", "DueEntryLeft"]);
});

test("a command whose tasks end together is counted once", async () => {
  const world = await worldOf({
    "PATCH ": () => json(200, { tasks: ["t1", "t2", "t3"] }),
    "GET /v1/tasks/": () => json(200, { id: "t", state: "FINISHED" }),
  });
  await world.handle(updateContainer("c1"));
  await world.clock.advance(2_000);

  await world.poll(1_000);

  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  expect(world.counted).toEqual(["CommandEnded succeeded", "PollerRan"]);
});
