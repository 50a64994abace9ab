import { expect, test } from "vitest";
import { toAccountsConfig } from "../../../lib/provider/accounts-config.ts";
import { json, scriptProvider, startProvider } from "../../support/provider.ts";
import { requestOf, updateContainer } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const TEAM = "111111111111";
const OTHER_TEAM = "222222222222";
const TASK = "7f2f2c4e-1a60-4f3e-9a0d-2f9f2b6f1a01";

/** Skyhook's own AWS account has all rights, each team rights to one project. */
const rights = toAccountsConfig({
  accounts: [
    {
      name: "local",
      senders: ["own", { sender: TEAM, projects: [1] }, { sender: OTHER_TEAM, projects: [2] }],
    },
  ],
});

const follow = (commandId: string, data: object = {}) =>
  requestOf(commandId, { operation: "follow-task", params: { task_id: TASK }, ...data });

const taskOf = (fields: object) => () =>
  json(200, { id: TASK, project_id: 1, region_id: 1, ...fields });
const TARGET = `GET /v1/tasks/${TASK}`;
const told = (world: World, id: string) =>
  world.bus.published().filter(({ metadata }) => metadata.commandId === id);

test("the end of a task that another client started is reported to its follower", async () => {
  const provider = scriptProvider({ [TARGET]: taskOf({ state: "RUNNING" }) });
  const world = await createWorld({ provider: () => provider, rights });
  await world.handleFrom(TEAM, follow("f1"));
  await world.pass(20_000);

  provider.answer(TARGET, taskOf({ state: "FINISHED", created_resources: { routers: ["r1"] } }));
  await world.untilQuiet();

  const events = told(world, "f1");
  expect(events.map(({ detailType }) => detailType)).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
  expect(events.map(({ metadata }) => metadata.sender)).toEqual([TEAM, TEAM, TEAM]);
  expect(events.at(-1)?.data.createdResources).toEqual({ routers: ["r1"] });
  expect(provider.requests.every(({ target }) => target.startsWith("GET "))).toBe(true);
});

test("a task in a project that is not the follower's looks like one that does not exist", async () => {
  const hidden = scriptProvider({ [TARGET]: taskOf({ state: "FINISHED" }) });
  const missing = scriptProvider({});
  const seen = [];
  for (const provider of [hidden, missing]) {
    const world = await createWorld({ provider: () => provider, rights });
    await world.handleFrom(OTHER_TEAM, follow("f1"));
    await world.untilQuiet();
    seen.push(
      told(world, "f1").map(({ detailType, metadata, data }) => [detailType, metadata, data]),
    );
  }

  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.map(([detailType]) => detailType)).toEqual([
    "CommandAccepted",
    "TaskFailed",
    "CommandFailed",
  ]);
  expect(JSON.stringify(seen[0])).toContain("task-unknown");
});

test("a task without a project is shown only to a sender that may see all projects", async () => {
  const provider = scriptProvider({ [TARGET]: taskOf({ state: "FINISHED", project_id: null }) });
  const world = await createWorld({ provider: () => provider, rights });

  await world.handleFrom(TEAM, follow("f1"));
  await world.handle(follow("f2"));
  await world.untilQuiet();

  expect(told(world, "f1").at(-1)?.detailType).toBe("CommandFailed");
  expect(told(world, "f2").at(-1)?.detailType).toBe("CommandSucceeded");
});

test("many hidden tasks stay hidden when the list contains them", async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `task-${index}`);
  const provider = scriptProvider({
    "GET /cloud/v1/tasks": () =>
      json(200, { count: 6, results: ids.map((id) => ({ id, state: "RUNNING", project_id: 1 })) }),
  });
  const world = await createWorld({ provider: () => provider, rights });
  for (const id of ids) await world.handleFrom(OTHER_TEAM, follow(id, { params: { task_id: id } }));

  await world.pass(6 * 60_000);

  expect(world.publishedTypes().filter((type) => type === "CommandFailed")).toHaveLength(6);
});

test("two followers of one task and the command that started it each get its end", async () => {
  const world = await createWorld({ provider: startProvider });
  await world.handle(updateContainer("c1"));
  const state = (await world.command("c1"))?.state;
  const [task] = state?.status === "following" ? state.tasks : [];
  const params = { task_id: task?.id };

  await world.handle(follow("f1", { params }));
  await world.handle(follow("f2", { params }));
  await world.untilQuiet();

  const ends = world.bus.published().filter(({ detailType }) => detailType === "TaskFinished");
  expect(ends.map(({ metadata }) => metadata.commandId).toSorted()).toEqual(["c1", "f1", "f2"]);
  expect(new Set(ends.map(({ id }) => id)).size).toBe(3);
  expect(world.publishedTypes("c1").at(-1)).toBe("CommandSucceeded");
});

test("followers of one task do not wait for each other", async () => {
  const provider = scriptProvider({ [TARGET]: taskOf({ state: "RUNNING" }) });
  const world = await createWorld({ provider: () => provider, rights });

  await world.handle(follow("f1"));
  await world.handle(follow("f2"));
  await world.handleFrom(TEAM, follow("f1"));

  const states = [
    await world.command("f1"),
    await world.command("f2"),
    await world.command("f1", TEAM),
  ].map((command) => command?.state.status);
  expect(states).toEqual(["following", "following", "following"]);
});

test("a command may wait for the task that another one follows", async () => {
  const provider = scriptProvider({
    [TARGET]: taskOf({ state: "ERROR", error: "no space" }),
    "PATCH ": () => json(200, {}),
  });
  const world = await createWorld({ provider: () => provider });

  await world.handle(follow("f1"));
  await world.handle(updateContainer("c1", {}, { after: ["f1"] }));
  await world.untilQuiet();

  expect(told(world, "f1").at(-1)?.data.reason).toBe("task-failed");
  expect(told(world, "c1").at(-1)?.detailType).toBe("CommandCancelled");
});

test("a dry run of following checks no task", async () => {
  const provider = scriptProvider({});
  const world = await createWorld({ provider: () => provider });

  await world.handle(follow("f1", { dryRun: true }));

  expect(told(world, "f1").at(-1)?.data.wouldSend).toEqual({
    method: "GET",
    path: `/v1/tasks/${TASK}`,
  });
  expect(provider.requests).toEqual([]);
});
