import { expect, test } from "vitest";
import type { DerivedEvent } from "../../../lib/admin/derived-events.ts";
import { cancelCommand, resolveCommand } from "../../../lib/admin/operator-actions.ts";
import { readState } from "../../../lib/admin/status.ts";
import { commands } from "../../../lib/engine/command.ts";
import { connectionLost, json, scriptProvider, startProvider } from "../../support/provider.ts";
import * as requests from "../../support/requests.ts";
import { createWorld, type World, type WorldOptions } from "../../support/world.ts";

const START = Date.UTC(2026, 0, 1);
const NETWORK = "b39792c3-3160-4356-912e-ba396c95cdcf";

const stateOf = (world: World, id: string) =>
  readState(world.ledger, { sender: "own", id, now: world.clock.now() });

/** The events of all requests under one id, as derived from the ledger. */
const derived = async (world: World, id: string): Promise<readonly DerivedEvent[]> => {
  const state = await stateOf(world, id);
  return [...(state?.events ?? []), ...(state?.rejections ?? []).flatMap(({ events }) => events)];
};

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);

/** Type, id and time of the events that the bus has, each once. */
const published = (world: World, id: string) => {
  const its = world.bus
    .published()
    .filter(({ metadata, data }) => (metadata.commandId ?? data.requestedCommandId) === id)
    .map((event) => [event.id, event] as const);
  return [...new Map(its).values()]
    .map(({ detailType, metadata }) => ({
      ...{ type: detailType, id: metadata.id, time: metadata.time },
    }))
    .toSorted(byId);
};

const shown = (events: readonly DerivedEvent[]) =>
  events.map(({ type, id, time }) => ({ type, id, time })).toSorted(byId);

const scripted = (answers: Parameters<typeof scriptProvider>[0]) => () => scriptProvider(answers);
const tasksEnd = (states: Readonly<Record<string, object>>) =>
  scripted({
    "PATCH ": () => json(200, { tasks: Object.keys(states) }),
    ...Object.fromEntries(
      Object.entries(states).map(([id, state]) => [
        `GET /v1/tasks/${id}`,
        () => ("status" in state ? json(404, {}) : json(200, { id, ...state })),
      ]),
    ),
  });
const finished = { state: "FINISHED" };
const failed = { state: "ERROR", error: "no capacity" };
const running = { state: "RUNNING" };
const missing = { status: 404 };

interface Case {
  readonly provider?: WorldOptions["provider"];
  readonly accounts?: WorldOptions["accounts"];
  readonly run: (world: World) => Promise<unknown>;
  /** Types by command id, in the order of time. */
  readonly types: Readonly<Record<string, readonly string[]>>;
}

const container = (world: World, id = "c1") => world.send(requests.updateContainer(id));
const ACCEPTED = "CommandAccepted";

const CASES: Readonly<Record<string, Case>> = {
  "succeeds at once": {
    run: (world) => world.send(requests.updatePolicy("c1")),
    types: { c1: [ACCEPTED, "CommandSucceeded"] },
  },
  "succeeds after a task": {
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "TaskFinished", "CommandSucceeded"] },
  },
  "succeeds after several tasks": {
    provider: tasksEnd({ t1: finished, t2: finished, t3: finished }),
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "TaskFinished", "TaskFinished", "TaskFinished", "CommandSucceeded"] },
  },
  "has nothing to do": {
    provider: tasksEnd({}),
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "CommandSucceeded"] },
  },
  "is a dry run": {
    run: (world) => world.send(requests.updatePolicyWith("c1", { dryRun: true })),
    types: { c1: [ACCEPTED, "CommandSucceeded"] },
  },
  "is refused": {
    run: (world) => world.send(requests.updateEvent("c1", { bucket_name: "no-such" })),
    types: { c1: [ACCEPTED, "CommandFailed"] },
  },
  "fails by one of its tasks": {
    provider: tasksEnd({ t1: failed, t2: finished }),
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "TaskFailed", "TaskFinished", "CommandFailed"] },
  },
  "fails by a task that is unknown": {
    provider: tasksEnd({ t1: missing }),
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "TaskFailed", "CommandFailed"] },
  },
  "fails at its deadline, with a task still open": {
    provider: tasksEnd({ t1: finished, t2: running }),
    run: (world) => container(world),
    types: { c1: [ACCEPTED, "TaskFinished", "CommandFailed"] },
  },
  "is resolved after an unknown outcome": {
    provider: scripted({ "POST /cloud/v1/routers/": () => connectionLost() }),
    accounts: { local: { canList: false } },
    run: async (world) => {
      await world.send(requests.createRouter("c1"));
      await world.untilQuiet();
      await resolveCommand(world.newInvocation().deps, "own/c1", { applied: true });
    },
    types: { c1: [ACCEPTED, "CommandFailed", "CommandResolved"] },
  },
  "is cancelled by a guard": {
    run: (world) => {
      const guard = {
        network: { ...requests.PLACE, network_id: NETWORK },
        ...{ key: "paid", equals: "yes" },
      };
      return world.send(requests.resumeInstance("c1", { guards: [guard] }));
    },
    types: { c1: [ACCEPTED, "CommandCancelled"] },
  },
  "is cancelled because another one failed": {
    run: async (world) => {
      await world.send(requests.updateEvent("c0", { bucket_name: "no-such" }));
      await world.send(requests.resumeInstance("c1", { after: ["c0"] }));
    },
    types: { c0: [ACCEPTED, "CommandFailed"], c1: [ACCEPTED, "CommandCancelled"] },
  },
  "is cancelled by an operator": {
    provider: scripted({ "PATCH ": () => json(409, {}) }),
    run: async (world) => {
      await world.handle(requests.updateContainer("c1"));
      await cancelCommand(world.newInvocation().deps, "own/c1");
    },
    types: { c1: [ACCEPTED, "CommandCancelled"] },
  },
  "follows a task of another client": {
    provider: tasksEnd({ t1: finished }),
    run: (world) => world.send(followTask("c1")),
    types: { c1: [ACCEPTED, "TaskFinished", "CommandSucceeded"] },
  },
  "is cancelled while it follows a task": {
    provider: tasksEnd({ t1: running }),
    run: async (world) => {
      await world.send(followTask("c1"));
      await world.pass(10_000);
      await cancelCommand(world.newInvocation().deps, "own/c1");
    },
    types: { c1: [ACCEPTED, "CommandCancelled"] },
  },
  "shares its task with others": {
    provider: tasksEnd({ t1: finished }),
    run: async (world) => {
      const body = { ...requests.PLACE, container_name: "other" };
      await world.handle(requests.updateContainer("c1"));
      await world.handle(requests.updateContainer("c2", {}, { params: body }));
      await world.handle(followTask("c3"));
    },
    types: {
      c1: [ACCEPTED, "TaskFinished", "CommandSucceeded"],
      c2: [ACCEPTED, "TaskFinished", "CommandSucceeded"],
      c3: [ACCEPTED, "TaskFinished", "CommandSucceeded"],
    },
  },
  "is rejected": {
    run: (world) => world.send(requests.updatePolicy("c1", { status: "asleep" })),
    types: { c1: ["CommandRejected"] },
  },
  "has an id that is used again": {
    run: async (world) => {
      await world.send(requests.updatePolicy("c1"));
      await world.untilQuiet();
      const other = requests.updatePolicy("c1", { status: "active" });
      await world.send({ ...other, metadata: { ...other.metadata, id: "event-other" } });
    },
    types: { c1: [ACCEPTED, "CommandSucceeded", "CommandRejected"] },
  },
};

function followTask(id: string) {
  return requests.requestOf(id, { operation: "follow-task", params: { task_id: "t1" } });
}

const worldOf = ({ provider = startProvider, accounts }: Partial<Case>) =>
  createWorld({ provider, ...(accounts && { accounts }) });

test.each(Object.keys(CASES))("the derived events of a command that %s", async (name) => {
  const outcome = CASES[name] as Case;
  const world = await worldOf(outcome);

  await outcome.run(world);
  await world.untilQuiet();

  for (const [id, types] of Object.entries(outcome.types)) {
    const events = await derived(world, id);
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(shown(events)).toEqual(published(world, id));
    expect(events.every(({ state }) => state === "published")).toBe(true);
  }
});

test("an event that the bus does not take is shown as waiting, by the id that it has later", async () => {
  const world = await worldOf({});
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
  await world.handle(requests.updatePolicy("c1"));

  const before = await derived(world, "c1");
  world.bus.refuse(() => false);
  await world.untilQuiet();
  const after = await derived(world, "c1");

  expect(before.map(({ type, state }) => [type, state])).toEqual([
    ["CommandAccepted", "published"],
    ["CommandSucceeded", "waiting"],
  ]);
  expect(after).toEqual(before.map((event) => ({ ...event, state: "published" })));
  expect(shown(after)).toEqual(published(world, "c1"));
});

test("the end of a task waits until its event is published", async () => {
  const world = await worldOf({ provider: tasksEnd({ t1: finished, t2: running }) });
  world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
  await container(world);
  await world.pass(10_000);

  expect(await derived(world, "c1")).toMatchObject([
    { type: "CommandAccepted", state: "published" },
    { type: "TaskFinished", state: "waiting", taskId: "t1" },
  ]);
});

test("a task's end that is published after its command's deadline comes before the command's end", async () => {
  const world = await worldOf({ provider: tasksEnd({ t1: finished }) });
  world.bus.refuse(({ detailType }) => detailType !== "CommandAccepted");
  await container(world);
  await world.pass(2 * 60 * 60 * 1000 + 60_000);
  world.bus.refuse(() => false);
  await world.untilQuiet();

  const events = await derived(world, "c1");

  expect(world.publishedTypes("c1")).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
  expect(shown(events)).toEqual(published(world, "c1"));
  expect(events.every(({ state }) => state === "published")).toBe(true);
});

test("a cancelled command shows no end of its task, which is not published", async () => {
  const world = await worldOf({ provider: tasksEnd({ t1: finished }) });
  world.bus.refuse(({ detailType }) => detailType === "TaskFinished");
  await world.send(followTask("c1"));
  await world.pass(10_000);
  await cancelCommand(world.newInvocation().deps, "own/c1");
  world.bus.refuse(() => false);
  await world.untilQuiet();

  expect(shown(await derived(world, "c1"))).toEqual(published(world, "c1"));
});

test("a rejection that an older version recorded has no event, because it stored no id", async () => {
  const world = await worldOf({});
  await world.send(requests.updatePolicy("c1", { status: "asleep" }));
  await world.untilQuiet();
  const item = await world.ledger.read("rejection#own/c1");
  const older = JSON.parse(
    JSON.stringify(item?.value, (k, v) => (k === "publishedAs" ? undefined : v)),
  );
  await world.ledger.write({ ...item!, version: (item?.version ?? 0) + 1, value: older });

  expect(await stateOf(world, "c1")).toMatchObject({ kind: "rejected", events: [] });
});

test("an open command shows its request without secrets; its end erases the request", async () => {
  const world = await worldOf({});
  const secret = { envs: { TOKEN: "hush-hush" }, description: "uses hush-hush" };
  await world.handle(requests.updateContainer("c1", secret));

  const open = await stateOf(world, "c1");
  await world.untilQuiet();
  const ended = await stateOf(world, "c1");

  expect(open).toMatchObject({
    request: {
      state: "kept",
      params: { ...requests.PLACE, container_name: "my-container" },
      body: { envs: "[redacted]", description: "uses [redacted]" },
    },
  });
  expect(JSON.stringify(open)).not.toContain("hush-hush");
  expect(ended).toMatchObject({ request: { state: "erased" } });
});

test("the request of an operation that this version does not know shows no value of its body", async () => {
  const world = await worldOf({});
  await world.handle(requests.updateContainer("c1"));
  await commands.update(world.ledger, "own/c1", (command) => ({
    ...command,
    operation: "update-moon",
    request: { params: {}, query: {}, body: { phase: 7, token: "hush" } },
  }));

  expect(await stateOf(world, "c1")).toMatchObject({
    request: { body: { phase: "[redacted]", token: "[redacted]" } },
  });
});

test("each task shows its last recorded state", async () => {
  const provider = tasksEnd({ t1: failed, t2: running, t3: missing });
  const world = await worldOf({ provider });
  await container(world);
  await world.pass(30_000);

  const state = await stateOf(world, "c1");

  const tasks = state?.kind === "command" ? state.tasks.map(({ recorded }) => recorded) : [];
  const since = new Date(START).toISOString();
  expect(tasks).toEqual([
    { status: "failed", since, endedAt: expect.any(String), message: expect.any(String) },
    { status: "open", since },
    { status: "open", since, missingSince: expect.any(String), givenUpAt: expect.any(String) },
  ]);
});
