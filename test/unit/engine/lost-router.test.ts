import { describe, expect, test } from "vitest";
import { createLossyWorld, type Loss } from "../../support/lost-replies.ts";
import { connectionLost, json, type SeenRequest, scriptProvider } from "../../support/provider.ts";
import { createRouter, PLACE, SUBNET } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const CREATE = "POST /cloud/v1/routers/";
const START = Date.UTC(2026, 0, 1);
const ROUTER = "da5b9588-cecc-4111-a318-3ad04da05901";
const OTHER_ROUTER = "da5b9588-cecc-4111-a318-3ad04da05902";

const routes = [{ destination: "10.9.0.0/16", nexthop: "10.0.0.7" }];
const request = (id: string) => createRouter(id, { interfaces: [{ subnet_id: SUBNET }], routes });

const task = (id: string, fields: object = {}) => ({
  id,
  task_type: "create_router",
  state: "FINISHED",
  created_resources: { routers: [ROUTER] },
  ...fields,
});
const router = (fields: object = {}) => ({
  id: ROUTER,
  name: "new_router",
  interfaces: [{ ip_assignments: [{ subnet_id: SUBNET }] }],
  routes,
  task_id: null,
  ...fields,
});

/** A provider that loses the first reply, and lists these tasks and routers. */
const lossy = (tasks: readonly object[], routers: Readonly<Record<string, object>> = {}) => {
  let asked = 0;
  return scriptProvider({
    [CREATE]: () => {
      asked += 1;
      return asked === 1 ? connectionLost() : json(200, { tasks: ["second"] });
    },
    "GET /cloud/v1/tasks": () => json(200, { count: tasks.length, results: tasks }),
    "GET /v1/tasks/": ({ target }: SeenRequest) =>
      json(200, { id: target.split("/").at(-1), state: "FINISHED" }),
    ...Object.fromEntries(
      Object.entries(routers).map(([id, shown]) => [
        `GET /cloud/v1/routers/1234567/76/${id}`,
        () => json(200, shown),
      ]),
    ),
  });
};

const lose = async (provider: ReturnType<typeof lossy>, account: object = {}) => {
  const world = await createWorld({ provider: () => provider, accounts: { local: account } });
  await world.send(request("c1"));
  return world;
};

test("the ambiguity window starts when the request may have left, not at its intent", async () => {
  const sentAt: number[] = [];
  const provider = lossy([]);
  const world = await createWorld({ provider: () => provider });
  provider.answer(CREATE, async () => {
    sentAt.push(world.clock.now());
    if (sentAt.length > 1) return json(200, { tasks: ["second"] });
    await world.clock.advance(20_000);
    throw connectionLost();
  });

  await world.send(request("c1"));
  await world.untilQuiet();

  expect(sentAt).toHaveLength(2);
  expect(sentAt[1]! - sentAt[0]!).toBeGreaterThanOrEqual(320_000);
});

describe("a router after a create request without a reply", () => {
  test.each([
    ["the connection breaks before the effect"],
    ["the connection breaks after the effect"],
    ["a gateway answers HTML 504 after the effect"],
    ["the reply is cut off"],
  ] as const)("exists exactly once when %s", async (loss: Loss) => {
    const { world, records } = await createLossyWorld([loss]);

    await world.send(request("c1"));
    await world.untilQuiet();

    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
    const made = (await records("routers")).filter(({ name }) => name === "new_router");
    expect(made).toHaveLength(1);
    expect(world.bus.published().at(-1)?.data).toMatchObject({
      lostReplies: 1,
      createdResources: { routers: [made[0].id] },
    });
  });

  test("exists exactly once, however often the reply is lost", async () => {
    const after = "the connection breaks after the effect" as const;
    const before = "the connection breaks before the effect" as const;
    const { world, records } = await createLossyWorld([before, before, after, after]);

    await world.send(request("c1"));
    await world.untilQuiet();

    const made = (await records("routers")).filter(({ name }) => name === "new_router");
    expect(made).toHaveLength(1);
    expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
  });

  test("is adopted when exactly one task created it", async () => {
    const provider = lossy([task("t1")], { [ROUTER]: router() });
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)).toMatchObject({
      detailType: "CommandSucceeded",
      data: { taskIds: ["t1"] },
    });
    expect(provider.count(CREATE)).toBe(1);
  });

  test("is searched for among the tasks of its project and region since shortly before the send", async () => {
    const provider = lossy([task("t1")], { [ROUTER]: router() });
    const world = await lose(provider);

    await world.untilQuiet();

    const list = provider.requests.find(({ target }) => target === "GET /cloud/v1/tasks");
    expect(Object.fromEntries(list!.query)).toMatchObject({
      task_type: "create_router",
      project_id: String(PLACE.project_id),
      region_id: String(PLACE.region_id),
      from_timestamp: new Date(START - 60_000).toISOString(),
    });
  });

  test.each([
    ["has another name", router({ name: "other" })],
    ["has another interface", router({ interfaces: [{ ip_assignments: [{ subnet_id: "x" }] }] })],
    ["has no interface", router({ interfaces: [] })],
    [
      "has another route",
      router({ routes: [{ destination: "10.9.0.0/16", nexthop: "10.0.0.8" }] }),
    ],
    [
      "has one more route",
      router({ routes: [...routes, { destination: "10.8.0.0/16", nexthop: "10.0.0.7" }] }),
    ],
  ])("is not identified with a router that %s", async (_what, shown) => {
    const provider = lossy([task("t1")], { [ROUTER]: shown });
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.taskIds).toEqual(["second"]);
  });

  test.each([
    ["the router that a finished task names was deleted", task("t1"), json(404, {})],
    ["a finished task names no router", task("t1", { created_resources: null }), json(200, {})],
    [
      "a finished task names something else",
      task("t1", { created_resources: { routers: "r" } }),
      json(200, {}),
    ],
  ])("has an unknown outcome behind the ambiguity window when %s", async (_what, shown, answer) => {
    const provider = lossy([shown]);
    provider.answer("GET /cloud/v1/routers/", () => answer.clone());
    const world = await lose(provider, { ambiguityWindowMs: 100_000 });
    await world.pass(90_000);
    const early = (await world.command("c1"))?.state.status;

    await world.pass(20_000);

    expect(early).toBe("running");
    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "unknown-outcome",
      problems: [
        { rule: expect.stringMatching(/request 1 .*connection-lost.*; task t1 may have/) },
      ],
    });
    expect(provider.count(CREATE)).toBe(1);
  });

  test("is adopted beside the deleted router of another client", async () => {
    const other = task("t0", { created_resources: { routers: [OTHER_ROUTER] } });
    const provider = lossy([other, task("t1")], { [ROUTER]: router() });
    provider.answer(`GET /cloud/v1/routers/1234567/76/${OTHER_ROUTER}`, () => json(404, {}));
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.taskIds).toEqual(["t1"]);
  });

  test("is not identified with the router of a failed task", async () => {
    const provider = lossy([task("t1", { state: "ERROR" })], { [ROUTER]: router() });
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.taskIds).toEqual(["second"]);
  });

  test("has an unknown outcome when two routers fit, and nothing is sent again", async () => {
    const tasks = [task("t1"), task("t2", { created_resources: { routers: [OTHER_ROUTER] } })];
    const provider = lossy(tasks, { [ROUTER]: router(), [OTHER_ROUTER]: router() });
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "unknown-outcome",
      problems: [
        {
          path: "",
          rule: "request 1 got no clear reply (connection-lost); the routers of 2 tasks fit the request: t1, t2",
        },
      ],
    });
    expect(provider.count(CREATE)).toBe(1);
  });

  test("has an unknown outcome at once if the account's API lists no tasks", async () => {
    const provider = lossy([]);
    const world = await lose(provider, { canList: false });

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data).toMatchObject({
      reason: "unknown-outcome",
      problems: [
        {
          rule: "request 1 got no clear reply (connection-lost); the account's API lists no tasks, so Skyhook cannot find out whether the router was created",
        },
      ],
    });
    expect(provider.count(CREATE)).toBe(1);
  });

  test("delays the resend while a task of its project and region names no router yet", async () => {
    const pending = { state: "RUNNING", created_resources: null };
    const tasks: object[] = [task("t1", pending)];
    const provider = lossy(tasks, { [ROUTER]: router() });
    const world = await lose(provider);
    await world.pass(1_000_000);
    expect(provider.count(CREATE)).toBe(1);
    expect((await world.command("c1"))?.state.status).toBe("running");

    tasks[0] = task("t1");
    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.taskIds).toEqual(["t1"]);
  });

  test("is requested again after the ambiguity window, and not before", async () => {
    const provider = lossy([]);
    const world = await lose(provider, { ambiguityWindowMs: 100_000 });
    await world.pass(100_000);
    const before = provider.count(CREATE);
    await world.pass(10_000);

    expect([before, provider.count(CREATE)]).toEqual([1, 2]);
  });

  test("is not requested again while the provider cannot be read", async () => {
    const provider = lossy([]);
    provider.answer("GET /cloud/v1/tasks", () => json(503, {}));
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data).toMatchObject({ reason: "unknown-outcome" });
    expect(provider.count(CREATE)).toBe(1);
  });

  test("causes fewer and fewer reads of a provider that does not answer", async () => {
    const provider = lossy([]);
    provider.answer("GET /cloud/v1/tasks", () => json(403, {}));
    const world = await lose(provider);

    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.reason).toBe("unknown-outcome");
    expect(provider.count("GET /cloud/v1/tasks")).toBeLessThan(300);
  });

  test("is not adopted if it belongs to another command", async () => {
    const provider = scriptProvider({
      [CREATE]: () => json(200, { tasks: ["t1"] }),
      "GET /v1/tasks/": () => json(200, { id: "t1", state: "FINISHED" }),
      "GET /cloud/v1/tasks": () => json(200, { count: 1, results: [task("t1")] }),
      [`GET /cloud/v1/routers/1234567/76/${ROUTER}`]: () => json(200, router()),
    });
    const world = await createWorld({ provider: () => provider });
    await world.send(request("c0"));
    await world.untilQuiet();
    let asked = 0;
    provider.answer(CREATE, () => {
      asked += 1;
      return asked === 1 ? connectionLost() : json(200, { tasks: ["second"] });
    });

    await world.send(request("c1"));
    await world.untilQuiet();

    expect(world.bus.published().at(-1)?.data.taskIds).toEqual(["second"]);
  });
});
