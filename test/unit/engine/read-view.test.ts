import { expect, test } from "vitest";
import { cancelCommand, resolveCommand } from "../../../lib/admin/operator-actions.ts";
import { readView } from "../../../lib/admin/status.ts";
import { ATTEMPT_LEASE_MS } from "../../../lib/platform/deployment.ts";
import { createGate } from "../../support/gate.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const START = Date.UTC(2026, 0, 1);
const iso = (at: number) => new Date(at).toISOString();
const viewOf = (world: World, id = "c1") => readView(world.ledger, `own/${id}`, world.clock.now());

test("a command that was never accepted is unknown", async () => {
  const world = await createWorld({ provider: startProvider });

  expect(await viewOf(world)).toBeUndefined();
});

test("a command in its lane shows how many commands are before it, and which one runs", async () => {
  const world = await createWorld({ provider: startProvider });
  for (const id of ["c1", "c2", "c3"]) await world.handle(requests.updateContainer(id));

  const view = await viewOf(world, "c3");

  expect(view).toMatchObject({
    status: "waiting",
    waitsFor: { for: "lane", ahead: 2, holder: { sender: "own", commandId: "c1" } },
    personCan: ["cancel"],
  });
});

test("a command that waits for others shows the ones that have not ended", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(requests.updatePolicy("done"));
  await world.handle(requests.updateContainer("slow"));
  await world.handle(requests.resumeInstance("c1", { after: ["done", "slow", "never-sent"] }));

  const view = await viewOf(world);

  expect(view).toMatchObject({
    waitsFor: { for: "others", commandIds: ["slow", "never-sent"] },
    personCan: ["cancel"],
  });
});

test("a command with a request in flight shows when Skyhook stops waiting for the reply", async () => {
  const gate = createGate();
  const world = await createWorld({ provider: startProvider, around: gate.around });
  const sending = gate.hold("fetch PATCH");
  void world.handle(requests.updatePolicy("c1"));
  await sending.reached;

  const view = await viewOf(world);

  expect(view?.waitsFor).toEqual({ for: "reply", until: iso(START + ATTEMPT_LEASE_MS) });
});

test("a command that waits shows until when, and why", async () => {
  const until = START + 5_000;
  const ready = async () => ({ kind: "wait", until, because: "budget-spent" }) as const;
  const world = await createWorld({ provider: startProvider, accounts: { local: { ready } } });
  const network = { ...requests.PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" };
  await world.handle(
    requests.resumeInstance("c1", { guards: [{ network, key: "paid", equals: "yes" }] }),
  );

  const view = await viewOf(world);

  expect(view).toMatchObject({
    waitsFor: { for: "next-attempt", until: iso(until), because: "budget-spent" },
    lastError: "budget-spent",
    history: [],
  });
});

test("a command with tasks shows them with their ends, and no action", async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1", "t2"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "FINISHED" }),
    "GET /v1/tasks/t2": () => json(200, { id: "t2", state: "RUNNING" }),
  });
  const world = await createWorld({ provider: () => provider });
  await world.send(requests.updateContainer("c1"));
  await world.pass(10_000);

  const view = await viewOf(world);

  expect(view).toMatchObject({
    taskIds: ["t1", "t2"],
    tasks: [{ id: "t1", end: { kind: "finished" } }, { id: "t2" }],
    waitsFor: { for: "tasks", taskIds: ["t2"] },
    personCan: [],
  });
});

test("a task that outlives its command's deadline can be followed by another command", async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    "GET /v1/tasks/t1": () => json(200, { id: "t1", state: "RUNNING" }),
  });
  const world = await createWorld({ provider: () => provider });
  await world.send(requests.updateContainer("c1", {}, { deadline: iso(START + 60_000) }));
  await world.pass(90_000);

  expect(await viewOf(world)).toMatchObject({ reason: "deadline", personCan: ["follow-task"] });
});

test("after a vanished task the view does not advise to send again", async () => {
  const provider = scriptProvider({
    "POST /cloud/v1/routers/": () => json(200, { tasks: ["gone"] }),
    "GET /v1/tasks/gone": () => json(404, {}),
  });
  const world = await createWorld({ provider: () => provider });
  await world.send(requests.createRouter("c1"));
  await world.untilQuiet();

  expect(await viewOf(world)).toMatchObject({
    reason: "task-unknown",
    personCan: ["check-effect"],
  });
});

test("a refused command can be sent again, and one that succeeded needs nothing", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(requests.updateEvent("refused", { bucket_name: "no-such" }));
  await world.handle(requests.updatePolicy("done"));

  expect((await viewOf(world, "refused"))?.personCan).toEqual(["send-again"]);
  expect((await viewOf(world, "done"))?.personCan).toEqual([]);
});

test("a command that an operator cancelled shows when", async () => {
  const provider = scriptProvider({ "PATCH ": () => json(409, {}) });
  const world = await createWorld({ provider: () => provider });
  await world.handle(requests.updateContainer("c1"));
  await cancelCommand(world.newInvocation().deps, "own/c1");

  expect(await viewOf(world)).toMatchObject({
    status: "cancelled",
    reason: "requested",
    cancelRequestedAt: iso(START),
    endedAt: iso(START),
    personCan: [],
  });
});

test.each([
  [true, []],
  [false, ["send-again"]],
])("an unknown outcome can be resolved, and once it is (%s) says so", async (applied, then) => {
  const provider = scriptProvider({ "POST /cloud/v1/routers/": () => connectionLost() });
  const accounts = { local: { canList: false } };
  const world = await createWorld({ provider: () => provider, accounts });
  await world.send(requests.createRouter("c1"));
  await world.deliver();
  const uncertain = await viewOf(world);
  await world.untilQuiet();
  const ended = await viewOf(world);

  await resolveCommand(world.newInvocation().deps, "own/c1", { applied });

  expect(uncertain).toMatchObject({ isUncertain: true, personCan: ["cancel"] });
  expect(ended).toMatchObject({ reason: "unknown-outcome", personCan: ["resolve"] });
  expect(await viewOf(world)).toMatchObject({
    resolution: { applied, resolvedAt: iso(world.clock.now()) },
    personCan: then,
  });
});
