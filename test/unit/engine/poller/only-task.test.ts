import { describe, expect, test } from "vitest";
import { readState } from "../../../../lib/admin/status.ts";
import { commands } from "../../../../lib/engine/command.ts";
import { recordEndsInCommand } from "../../../../lib/engine/follow.ts";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import { createPollerMemory } from "../../../../lib/engine/poller/poller-memory.ts";
import { publishTaskEnd, recordAndPublishEnd } from "../../../../lib/engine/poller/task-end.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import { createFaults } from "../../../support/faults.ts";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const READ = "GET /v1/tasks/t1";
const RUNNING = () => json(200, { id: "t1", state: "RUNNING" });
const FINISHED = () =>
  json(200, { id: "t1", state: "FINISHED", created_resources: { routers: ["r1"] } });
const FAILED = () => json(200, { id: "t1", state: "ERROR", error: "no capacity" });
const MINUTE_MS = 60_000;

/** A world in which `c1` follows its only task, which runs until `finish()`. */
const following = async (deadlineMs = 30 * MINUTE_MS) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1"] }),
    [READ]: RUNNING,
  });
  const faults = createFaults();
  let isNextPublishFatal = false;
  const world = await createWorld({
    provider: () => provider,
    around: (call, effect) => {
      if (isNextPublishFatal && call.name === "bus.publish") {
        isNextPublishFatal = false;
        faults.strike(faults.calls.length + 1, "killed");
      }
      return faults.around(call, effect);
    },
  });
  const deadline = new Date(world.clock.now() + deadlineMs).toISOString();
  await world.handle(updateContainer("c1", {}, { deadline }));
  /** The process that finds the end dies after it has recorded it, before it publishes it. */
  const dieWithEnd = async (): Promise<void> => {
    isNextPublishFatal = true;
    provider.answer(READ, FINISHED);
    await world.pass(10_000);
  };
  return {
    ...{ world, provider, faults, dieWithEnd },
    task: async () => (await tasks.read(world.ledger, "local/t1"))?.value.state,
    /** Types of the command's events that its status shows as not yet published. */
    waiting: async () => {
      const state = await readState(world.ledger, {
        ...{ sender: "own", id: "c1", now: world.clock.now() },
      });
      return state?.events.filter((event) => event.state === "waiting").map(({ type }) => type);
    },
  };
};

const ENDS = ["TaskFinished", "CommandSucceeded"];

describe("the success of a command's only task", () => {
  test("is one write of the command and one of the task", async () => {
    const { world, provider, faults } = await following();
    provider.answer(READ, FINISHED);
    const before = faults.calls.length;

    await world.untilQuiet();

    const writes = faults.calls.slice(before).filter((name) => name.startsWith("ledger.write"));
    expect(writes.filter((name) => !name.includes("lease#"))).toEqual([
      "ledger.write command#own/c1",
      "ledger.write task#local/t1",
    ]);
    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("lets the store delete both in time", async () => {
    const { world, provider } = await following();
    provider.answer(READ, FINISHED);

    await world.untilQuiet();

    const items = await Promise.all(
      ["command#own/c1", "task#local/t1"].map((key) => world.ledger.read(key)),
    );
    for (const item of items) expect(item).toMatchObject({ expiresAt: expect.any(Number) });
  });

  test("is published by another process after the first one died", async () => {
    const { world, task, waiting, dieWithEnd } = await following();
    await dieWithEnd();
    expect(await world.command("c1")).toMatchObject({ state: { status: "succeeded" } });
    expect(await task()).toEqual({ status: "open" });
    expect(await waiting()).toEqual(ENDS);

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
    expect(await task()).toMatchObject({
      ...{ status: "finished", told: true, createdResources: { routers: ["r1"] } },
    });
    expect(await waiting()).toEqual([]);
  });

  test("stays what the command recorded when the provider has forgotten the task", async () => {
    const { world, provider, dieWithEnd } = await following();
    await dieWithEnd();
    provider.answer(READ, () => json(404, {}));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("is published at the deadline although the task cannot be read any more", async () => {
    const { world, provider, dieWithEnd } = await following(5 * MINUTE_MS);
    await dieWithEnd();
    provider.answer(READ, () => json(503, {}));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  });

  test("is published again without another check of the task", async () => {
    const { world, provider, task } = await following();
    provider.answer(READ, FINISHED);
    world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
    await world.pass(MINUTE_MS);
    const checks = provider.count(READ);
    expect(await task()).toMatchObject({ status: "finished", told: false });

    world.bus.refuse(() => false);
    await world.untilQuiet();

    expect(provider.count(READ)).toBe(checks);
    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  });

  test("is not published again for a repeated request", async () => {
    const { world, provider } = await following();
    provider.answer(READ, FINISHED);
    await world.untilQuiet();
    const before = world.publishedTypes();

    await world.handle(updateContainer("c1", {}, { deadline: "2026-01-01T00:30:00.000Z" }));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(before);
  });
});

test("a command that waits in the lane runs although the process died and the task cannot be read", async () => {
  const { world, provider, dieWithEnd } = await following();
  provider.answer("PATCH ", () => json(200, { tasks: ["t2"] }));
  provider.answer("GET /v1/tasks/t2", () => json(200, { id: "t2", state: "FINISHED" }));
  await world.handle(updateContainer("c2"));
  await world.pass(MINUTE_MS);
  await dieWithEnd();
  provider.answer(READ, () => json(503, {}));

  await world.pass(2 * MINUTE_MS);

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
  expect(world.publishedTypes("c2")).toEqual(["CommandAccepted", ...ENDS]);
});

describe("a process that was suspended with the end of a task at hand", () => {
  /** Follows tasks in a process that stops when it has read the end of `t1`, while others follow them to their ends. */
  const suspendedAt = async (ids: readonly string[], answer: () => Response) => {
    const gate = createGate();
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ids }),
      [READ]: answer,
      "GET /v1/tasks/t2": RUNNING,
    });
    const world = await createWorld({
      provider: () => provider,
      accounts: { local: { canList: false } },
      around: gate.around,
    });
    await world.handle(updateContainer("c1"));
    await world.clock.advance(2_000);
    const reading = gate.hold(`fetch ${READ}`);
    const polled = world.poll();
    await reading.reached;
    const slow = gate.hold("ledger.read command#own/c1");
    reading.open();
    await slow.reached;
    await world.pass(MINUTE_MS);
    provider.answer("GET /v1/tasks/t2", () => json(200, { id: "t2", state: "FINISHED" }));
    await world.untilQuiet();
    const before = world.publishedTypes();
    slow.open();
    await polled;
    // The run is over, and what it had begun goes on.
    await world.pass(1_000);
    return { world, before };
  };

  /** A world in which `c1` follows its only task, with the item of that. */
  const withOpenTask = async (answer: () => Response) => {
    const gate = createGate();
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1"] }),
      [READ]: answer,
    });
    const world = await createWorld({ provider: () => provider, around: gate.around });
    await world.handle(updateContainer("c1"));
    const task = (await tasks.read(world.ledger, "local/t1"))!;
    return { gate, world, task };
  };

  test.each<readonly [string, readonly string[], () => Response]>([
    ["the success of one of several tasks", ["t1", "t2"], FINISHED],
    ["the failure of one of several tasks", ["t1", "t2"], FAILED],
    ["the failure of an only task", ["t1"], FAILED],
  ])("publishes nothing again after %s", async (_, ids, answer) => {
    const { world, before } = await suspendedAt(ids, answer);

    expect(before.at(-1)).toMatch(/^Command(?:Succeeded|Failed)$/);
    expect(world.publishedTypes()).toEqual(before);
  });

  test("publishes nothing again after it had read an open task, and then its command with a failure", async () => {
    const { gate, world, task } = await withOpenTask(FAILED);
    const slow = gate.hold("ledger.read command#own/c1");
    const published = publishTaskEnd(world.newInvocation().deps, task);
    await slow.reached;
    await world.untilQuiet();
    const before = world.publishedTypes();
    slow.open();
    await published;

    expect(before).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
    expect(world.publishedTypes()).toEqual(before);
  });

  test("publishes the success that another process has recorded meanwhile, not its own finding", async () => {
    const { gate, world, task } = await withOpenTask(RUNNING);
    const report = (end: Parameters<typeof recordAndPublishEnd>[2]) =>
      recordAndPublishEnd(world.newInvocation().deps, task, end);
    const write = gate.hold("ledger.write task#local/t1");
    const publication = gate.hold("bus.publish");

    const other = report({ status: "unknown", message: "the provider does not know the task" });
    await write.reached;
    const first = report({ status: "finished" });
    await publication.reached;
    write.open();
    await other;
    publication.open();
    await first;

    const ends = world.publishedTypes().filter((type) => type !== "CommandAccepted");
    expect(new Set(ends)).toEqual(new Set(ENDS));
    expect((await tasks.read(world.ledger, "local/t1"))?.value.state).toMatchObject({
      ...{ status: "finished", told: true },
    });
  });
});

test("an end that a suspended process records late is published at the deadline by a process that knew the task", async () => {
  const { world, provider } = await following(5 * MINUTE_MS);
  const memory = createPollerMemory("one");
  const poll = (): Promise<void> => {
    const budget = { endsAt: world.clock.now() + 1_000, signal: new AbortController().signal };
    return world.drive(pollDue(world.newInvocation().deps, budget, memory));
  };
  await world.clock.advance(2_000);
  await poll();
  const command = (await commands.read(world.ledger, "own/c1"))!;
  await recordEndsInCommand(
    world.newInvocation().deps,
    command,
    new Map([["t1", { kind: "finished" }]]),
  );
  provider.answer(READ, () => json(503, {}));

  for (let minute = 0; minute < 6; minute += 1) {
    await world.clock.advance(MINUTE_MS);
    await poll();
  }

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", ...ENDS]);
});

test("of several tasks each event, and that of the command, is published once per try", async () => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ["t1", "t2"] }),
    "GET /v1/tasks/": ({ target }) =>
      json(200, { id: target.split("/").at(-1), state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider });
  let refusals = 1;
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded" && refusals-- > 0);
  await world.handle(updateContainer("c1"));

  await world.untilQuiet();

  expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(1);
});

test("a command that an earlier version ended by its tasks expires too", async () => {
  const { world, provider } = await following();
  provider.answer(READ, FINISHED);
  world.bus.refuse(({ detailType }) => detailType === "CommandSucceeded");
  await world.pass(MINUTE_MS);
  const { expiresAt: _, ...item } = (await world.ledger.read("command#own/c1"))!;
  await world.ledger.write({ ...item, version: item.version + 1 });
  world.bus.refuse(() => false);

  await world.untilQuiet();

  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  expect(await world.ledger.read("command#own/c1")).toMatchObject({
    expiresAt: expect.any(Number),
  });
});
