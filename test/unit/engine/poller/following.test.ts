import { describe, expect, test } from "vitest";
import { recordAndPublishEnd } from "../../../../lib/engine/poller/task-end.ts";
import { tasks } from "../../../../lib/engine/task.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const answers = (state: object) => () => json(200, { id: "from-the-provider", ...state });

/** A world with one command, which was answered with these tasks in these states. */
const follow = async (
  states: Readonly<Record<string, object>>,
  data: Readonly<Record<string, unknown>> = {},
) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: Object.keys(states) }),
    ...Object.fromEntries(
      Object.entries(states).map(([id, state]) => [`GET /v1/tasks/${id}`, answers(state)]),
    ),
  });
  const world = await createWorld({ provider: () => provider });
  await world.send(updateContainer("c1", {}, data));
  await world.deliver();
  return { world, provider };
};

const FINISHED = { state: "FINISHED" };
const RUNNING = { state: "RUNNING" };

describe("a command with tasks", () => {
  test("succeeds when all of them have finished, and publishes what they created", async () => {
    const { world } = await follow({
      t1: { ...FINISHED, created_resources: { routers: ["r1"], ports: null } },
      t2: { ...FINISHED, created_resources: { routers: ["r2", 7] } },
      t3: { ...FINISHED, created_resources: null },
    });

    await world.untilQuiet();

    expect(world.publishedTypes().slice(-1)).toEqual(["CommandSucceeded"]);
    expect(world.bus.published().at(-1)?.data).toMatchObject({
      outcome: "done",
      taskIds: ["t1", "t2", "t3"],
      createdResources: { routers: ["r1", "r2", 7] },
    });
  });

  test("keeps running while one of them runs, whatever the state of the others", async () => {
    const { world, provider } = await follow({ t1: FINISHED, t2: RUNNING, t3: { state: "ERROR" } });
    await world.poll();
    await world.clock.advance(300_000);
    await world.poll();
    expect((await world.command("c1"))?.state.status).toBe("following");

    provider.answer("GET /v1/tasks/t2", answers(FINISHED));
    await world.untilQuiet();

    expect(world.publishedTypes("c1").at(-1)).toBe("CommandFailed");
    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "task-failed",
      problems: [{ path: "tasks.t3", rule: "the task ended in state ERROR without an error text" }],
    });
  });

  test("is done at once when there are none", async () => {
    const { world } = await follow({});

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "CommandSucceeded"]);
    expect(world.bus.published().at(-1)?.data).toMatchObject({ outcome: "no-op", taskIds: [] });
  });

  test("follows a task that is named twice once", async () => {
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1", "t1"] }),
      "GET /v1/tasks/t1": answers(FINISHED),
    });
    const world = await createWorld({ provider: () => provider });

    await world.send(updateContainer("c1"));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFinished", "CommandSucceeded"]);
  });
});

describe("a task", () => {
  test("that is FINISHED with an error text has failed", async () => {
    const { world } = await follow({ t1: { ...FINISHED, error: "half of it" } });

    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
    expect(world.bus.published().at(-1)?.data.problems).toEqual([
      { path: "tasks.t1", rule: "half of it" },
    ]);
  });

  test("that is FINISHED with an error text has failed although it created resources", async () => {
    const created_resources = { routers: ["r1"] };
    const { world } = await follow({ t1: { ...FINISHED, error: "half of it", created_resources } });

    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "task-failed",
      problems: [{ path: "tasks.t1", rule: "half of it" }],
    });
  });

  test.each([["NEW"], ["RUNNING"], ["PAUSED_BY_ALIENS"], ["finished"], [""]])(
    "in the state %j still runs",
    async (state) => {
      const { world } = await follow({ t1: { state, error: "not yet" } });

      await world.clock.advance(2_000);
      await world.poll();

      expect((await world.command("c1"))?.state.status).toBe("following");
    },
  );

  test("that the provider does not know for 5 minutes is given up", async () => {
    const { world, provider } = await follow({ t1: RUNNING });
    provider.answer("GET /v1/tasks/t1", () => json(404, {}));

    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
    const failed = world.bus.published().find(({ detailType }) => detailType === "TaskFailed");
    expect(failed?.data.reason).toBe("task-unknown");
    expect(failed?.data.durationMs).toBeGreaterThanOrEqual(302_000);
    expect(failed?.data.durationMs).toBeLessThanOrEqual(362_000);
    expect(world.bus.published().at(-1)?.data.reason).toBe("task-unknown");
  });

  test("that the provider does not know is given up even if some checks fail", async () => {
    const { world, provider } = await follow({ t1: RUNNING });
    let looks = 0;
    provider.answer("GET /v1/tasks/t1", () => {
      looks += 1;
      return looks % 2 === 0 ? json(503, {}) : json(404, {});
    });

    await world.untilQuiet();

    const failed = world.bus.published().find(({ detailType }) => detailType === "TaskFailed");
    expect(failed?.data.reason).toBe("task-unknown");
    expect(failed?.data.durationMs).toBeLessThanOrEqual(500_000);
  });

  test("that the poller could not check in between is not given up", async () => {
    const { world, provider } = await follow({ t1: RUNNING });
    provider.answer("GET /v1/tasks/t1", () => json(404, {}));
    await world.pass(60_000);
    provider.answer("GET /v1/tasks/t1", () => json(503, {}));
    await world.pass(300_000);
    provider.answer("GET /v1/tasks/t1", () => json(404, {}));

    await world.pass(120_000);

    expect((await world.command("c1"))?.state.status).toBe("following");
  });

  test("that was missing for a while and appears again is still followed", async () => {
    const { world, provider } = await follow({ t1: RUNNING });
    provider.answer("GET /v1/tasks/t1", () => json(404, {}));
    await world.clock.advance(2_000);
    await world.poll();
    await world.clock.advance(200_000);
    provider.answer("GET /v1/tasks/t1", answers(RUNNING));
    await world.poll();
    provider.answer("GET /v1/tasks/t1", () => json(404, {}));
    await world.clock.advance(200_000);

    await world.poll();

    expect((await world.command("c1"))?.state.status).toBe("following");
  });

  test.each([
    ["the provider is in trouble", () => json(503, {})],
    ["the key is refused", () => json(401, {})],
    ["the answer is no task", () => json(200, { hello: 1 })],
    ["the answer is no JSON", () => new Response("<html>")],
    ["the connection breaks", () => new TypeError("fetch failed")],
  ])("is still followed although %s", async (_why, trouble) => {
    const { world, provider } = await follow({ t1: RUNNING });
    provider.answer("GET /v1/tasks/t1", trouble);
    await world.clock.advance(400_000);
    await world.poll();

    provider.answer("GET /v1/tasks/t1", answers(FINISHED));
    await world.untilQuiet();

    expect(world.publishedTypes()).toEqual(["CommandAccepted", "TaskFinished", "CommandSucceeded"]);
  });
});

describe("at the deadline of a command", () => {
  const deadline = new Date(Date.UTC(2026, 0, 1) + 600_000).toISOString();

  test("it fails, its lane opens, and its tasks are abandoned", async () => {
    const { world, provider } = await follow({ t1: RUNNING, t2: FINISHED }, { deadline });
    await world.send(updateContainer("c2"));
    await world.deliver();
    provider.answer("PATCH ", () => json(200, { tasks: [] }));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandFailed",
    ]);
    expect(world.publishedTypes("c2")).toEqual(["CommandAccepted", "CommandSucceeded"]);
    const failed = world.bus.published().find(({ detailType }) => detailType === "CommandFailed");
    expect(failed?.data).toMatchObject({
      reason: "deadline",
      durationMs: 600_000,
      problems: [
        { path: "deadline", rule: "passed before the provider showed the end of these tasks: t1" },
      ],
    });
    expect((await world.ledger.read("task#local/t1"))?.value.state).toMatchObject({
      status: "abandoned",
    });
  });

  test("a command that waits in its lane fails, and those behind it keep their places", async () => {
    const { world, provider } = await follow({ t1: RUNNING });
    await world.send(updateContainer("c2", {}, { deadline }));
    await world.send(updateContainer("c3"));
    await world.deliver();
    await world.clock.advance(600_000);
    await world.poll();
    expect(world.publishedTypes("c2")).toEqual(["CommandAccepted", "CommandFailed"]);
    provider.answer("GET /v1/tasks/t1", answers(FINISHED));
    provider.answer("PATCH ", () => json(200, { tasks: [] }));

    await world.untilQuiet();

    expect(world.publishedTypes("c3")).toEqual(["CommandAccepted", "CommandSucceeded"]);
  });

  test("a task of a removed account is abandoned too", async () => {
    const provider = scriptProvider({ "PATCH ": () => json(200, { tasks: ["t1"] }) });
    const accounts: Record<string, object> = { local: {} };
    const world = await createWorld({ provider: () => provider, accounts });
    await world.send(updateContainer("c1", {}, { deadline }));
    await world.deliver();

    delete accounts.local;
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
  });
});

test("a clock that goes backwards produces no event that breaks the catalogue", async () => {
  const { world } = await follow({ t1: FINISHED });
  const { now } = world.clock;
  await world.clock.advance(2_000);

  // A machine with a clock that is ten minutes behind finds the end.
  world.clock.now = () => now() - 600_000;
  const { deps } = world.newInvocation();
  const task = await tasks.read(deps.ledger, "local/t1");
  await recordAndPublishEnd(deps, task!, { status: "finished" });

  expect(world.publishedTypes().at(-1)).toBe("CommandSucceeded");
  expect(world.bus.published().at(-1)?.data.durationMs).toBe(0);
});
