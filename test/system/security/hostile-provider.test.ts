import { describe, expect, test } from "vitest";
import { json, scriptProvider } from "../../support/provider.ts";
import { createRouter, updatePolicyWith } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const TASK = "GET /v1/tasks/";
const LISTED = "GET /cloud/v1/tasks";

/** A search for a lost effect goes on until then. */
const DEADLINE = { deadline: "2026-01-01T00:15:00Z" };

/** A provider that answers a mutation with these task ids; all of the tasks have ended. */
const startNaming = async (tasks: readonly string[], task: object = {}) => {
  const provider = scriptProvider({
    "POST ": () => json(200, { tasks }),
    [LISTED]: () => json(200, { count: 0, results: [] }),
    [TASK]: () => json(200, { id: "t", state: "FINISHED", ...task }),
  });
  const accounts = { local: { ambiguityWindowMs: Number.MAX_SAFE_INTEGER } };
  return { provider, world: await createWorld({ provider: () => provider, accounts }) };
};

describe("a reply with tasks that cannot be followed leaves the outcome unknown:", () => {
  test.each([
    ["an empty id", [""]],
    ["a dot", ["t", "."]],
    ["two dots", [".."]],
    ["half an emoji", ["\ud800"]],
    ["an id that is too long for a ledger key", ["x".repeat(3_000)]],
    ["an id that is too long in a URL", ["€".repeat(300)]],
    ["more ids than a record holds", Array.from({ length: 5_000 }, (_, index) => `t${index}`)],
  ])("%s", async (_, tasks) => {
    const { world } = await startNaming(tasks);
    await world.send(createRouter("c1", {}, DEADLINE));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
    expect((await world.command("c1"))?.state).toMatchObject({ reason: "unknown-outcome" });
    expect(world.errors).toEqual([]);
  });
});

describe("a task id stays one segment of the path:", () => {
  test.each([
    ["a path", "../../other"],
    ["encoded dots", "%2e%2e"],
    ["a query", "t?state=FINISHED#x"],
    ["NUL and line ends", "a\u0000\r\nb"],
    ["a property name of objects", "__proto__"],
    ["many letters", "x".repeat(600)],
  ])("%s", async (_, id) => {
    const { world, provider } = await startNaming([id]);
    await world.send(createRouter("c1"));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
    expect(provider.requests.at(-1)?.target).toBe(`${TASK}${encodeURIComponent(id)}`);
  });
});

describe("the effect of a lost reply", () => {
  test.each([
    ["the router", { id: "t", created_resources: { routers: [".."] } }],
    ["the task", { id: "..", created_resources: { routers: ["r"] } }],
  ])("is searched for only at the URL of %s", async (_, task) => {
    const { world, provider } = await startNaming([]);
    provider.answer("POST ", () => json(500, {}));
    const results = [{ state: "FINISHED", ...task }];
    provider.answer(LISTED, () => json(200, { count: 1, results }));
    await world.send(createRouter("c1", {}, DEADLINE));

    await world.untilQuiet();

    expect((await world.command("c1"))?.state).toMatchObject({ reason: "unknown-outcome" });
    expect(provider.count("POST ")).toBe(1);
    expect(world.errors).toEqual([]);
  });
});

describe("the created resources of a task", () => {
  test.each(["constructor", "toString", "hasOwnProperty", "then", "toJSON", "a\r\n\u001b[2J"])(
    "are published under the kind %j",
    async (kind) => {
      const { world } = await startNaming(["t"], { created_resources: { [kind]: ["a"] } });
      await world.send(createRouter("c1"));

      await world.untilQuiet();

      expect(world.bus.published().at(-1)?.data.createdResources).toEqual({ [kind]: ["a"] });
    },
  );

  test.each([
    ["a long list", { routers: Array.from({ length: 50_000 }, (_, index) => `router-${index}`) }],
    ["a long name", { routers: ["x".repeat(500_000)] }],
    [
      "many kinds",
      Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, [1]])),
    ],
  ])("are left out of events and records if they are %s", async (_, created_resources) => {
    const { world } = await startNaming(["t"], { created_resources });
    await world.send(createRouter("c1"));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFinished",
      "CommandSucceeded",
    ]);
    expect(world.bus.published().at(-1)?.data.createdResources).toBeUndefined();
  });

  test("are left out of the command's record if those of all tasks are too large", async () => {
    const created_resources = { routers: Array.from({ length: 1_000 }, () => "r".repeat(60)) };
    const { world } = await startNaming(["a", "b", "c", "d", "e", "f", "g"], { created_resources });
    await world.send(createRouter("c1"));

    await world.untilQuiet();

    expect(world.publishedTypes("c1").slice(-2)).toEqual(["TaskFinished", "CommandSucceeded"]);
    expect(world.bus.published().at(-1)?.data.createdResources.routers).toHaveLength(1_000);
  });
});

test.each([10, 190, 210, 1_000, 3_000, 5_000, 10_000, 100_000])(
  "a reply with %i levels ends the command",
  async (levels) => {
    const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const reply = `{"id":1,"name":"a","status":"paused","more":${deep}}`;
    const provider = scriptProvider({ "PATCH ": () => new Response(reply) });
    const world = await createWorld({ provider: () => provider });
    await world.send(updatePolicyWith("c1", DEADLINE));

    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toHaveLength(2);
    expect(world.errors).toEqual([]);
  },
);

test("a number of a million digits does no harm", async () => {
  const reply = `{"tasks":[],"more":${"9".repeat(1_000_000)}}`;
  const provider = scriptProvider({ "POST ": () => new Response(reply) });
  const world = await createWorld({ provider: () => provider });
  await world.send(createRouter("c1"));

  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
});
