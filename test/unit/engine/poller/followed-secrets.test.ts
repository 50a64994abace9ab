import { expect, test } from "vitest";
import { createGate } from "../../../support/gate.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { createRouter, requestOf, shared, updateContainer } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const TEAM = "111111111111";
const TASK = "7f2f2c4e-1a60-4f3e-9a0d-2f9f2b6f1a01";
const TARGET = `GET /v1/tasks/${TASK}`;
const SECRET = "canary-secret-value";
const NOT_SHOWN =
  "the task failed; the provider's text is hidden, because it may hold another client's secrets";

const follow = (commandId: string) =>
  requestOf(commandId, { operation: "follow-task", params: { task_id: TASK } });
const failed = (error: string) => () =>
  json(200, { id: TASK, project_id: 1, state: "ERROR", error });

/** A world whose only task runs until the test lets it fail. */
const start = async (gate = createGate()) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: [TASK] }),
    "POST ": () => json(200, { tasks: [TASK] }),
    [TARGET]: () => json(200, { id: TASK, project_id: 1, state: "RUNNING" }),
  });
  const world = await createWorld({
    provider: () => provider,
    rights: shared(TEAM),
    around: gate.around,
  });
  return { world, provider };
};

const told = (world: World, commandId: string) =>
  world.bus
    .published()
    .filter(({ metadata }) => metadata.commandId === commandId)
    .slice(-2)
    .map(({ detailType, data }) => [detailType, data.problems[0].rule]);

const everything = async (world: World): Promise<string> => {
  const keys = [`task#local/${TASK}`, `task#local/${TASK}/${TEAM}/f1`, `command#${TEAM}/f1`];
  const stored = await Promise.all(keys.map((key) => world.ledger.read(key)));
  return JSON.stringify([world.bus.published(), world.log.lines, stored]);
};

test("a follower reads no secret of the request that started the task", async () => {
  const { world, provider } = await start();
  await world.handle(updateContainer("c1", { envs: { TOKEN: SECRET } }));
  await world.handleFrom(TEAM, follow("f1"));
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));

  await world.untilQuiet();

  expect(told(world, "c1")).toEqual([
    ["TaskFailed", "cannot start with TOKEN=[redacted]"],
    ["CommandFailed", "cannot start with TOKEN=[redacted]"],
  ]);
  expect(told(world, "f1").map(([type]) => type)).toEqual(["TaskFailed", "CommandFailed"]);
  expect(await everything(world)).not.toContain(SECRET);
});

test("a follower gets the error text of the command that started the task", async () => {
  const { world, provider } = await start();
  await world.handle(updateContainer("c1", { envs: { TOKEN: SECRET } }));
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));
  await world.untilQuiet();

  await world.handleFrom(TEAM, follow("f1"));
  await world.untilQuiet();

  expect(told(world, "f1")).toEqual([
    ["TaskFailed", "cannot start with TOKEN=[redacted]"],
    ["CommandFailed", "cannot start with TOKEN=[redacted]"],
  ]);
});

test("the text is hidden when the command that started the task has ended", async () => {
  const { world, provider } = await start();
  const deadline = new Date(world.clock.now() + 60_000).toISOString();
  await world.handle(updateContainer("c1", { envs: { TOKEN: SECRET } }, { deadline }));
  await world.handleFrom(TEAM, follow("f1"));
  await world.pass(180_000);
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));

  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
  expect(told(world, "f1")).toEqual([
    ["TaskFailed", "[redacted]"],
    ["CommandFailed", "[redacted]"],
  ]);
});

test("a follower sees the text of a task when the task's request has no secrets", async () => {
  const { world, provider } = await start();
  await world.handle(createRouter("c1"));
  await world.handleFrom(TEAM, follow("f1"));
  provider.answer(TARGET, failed("no address is left"));

  await world.untilQuiet();

  expect(told(world, "f1")).toEqual([
    ["TaskFailed", "no address is left"],
    ["CommandFailed", "no address is left"],
  ]);
});

test("the text of a task that no command started is hidden", async () => {
  const { world, provider } = await start();
  await world.handleFrom(TEAM, follow("f1"));
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));

  await world.untilQuiet();

  expect(told(world, "f1")).toEqual([
    ["TaskFailed", NOT_SHOWN],
    ["CommandFailed", NOT_SHOWN],
  ]);
  expect(await everything(world)).not.toContain(SECRET);
});

test("a follower sees no text of a task that belongs to two commands", async () => {
  const { world, provider } = await start();
  await world.handle(updateContainer("c1", { envs: { TOKEN: SECRET } }));
  await world.handle(createRouter("c2"));
  await world.handleFrom(TEAM, follow("f1"));
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));

  await world.untilQuiet();

  for (const id of ["c1", "c2", "f1"]) {
    expect(told(world, id)).toEqual([
      ["TaskFailed", NOT_SHOWN],
      ["CommandFailed", NOT_SHOWN],
    ]);
  }
  expect(await everything(world)).not.toContain(SECRET);
});

test("the text is hidden when another command gets the task meanwhile", async () => {
  const gate = createGate();
  const { world, provider } = await start(gate);
  await world.handle(createRouter("c1"));
  provider.answer(TARGET, failed(`cannot start with TOKEN=${SECRET}`));
  await world.clock.advance(2_000);
  const read = gate.hold("fetch GET /v1/tasks/");
  const run = world.poll(1_000);
  await read.reached;

  await world.handle(updateContainer("c2", { envs: { TOKEN: SECRET } }));
  read.open();
  await run;
  await world.untilQuiet();

  expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "TaskFailed", "CommandFailed"]);
  expect(await everything(world)).not.toContain(SECRET);
});

test("the item of another follower is not mistaken for that of a command", async () => {
  const { world, provider } = await start();
  await world.handleFrom(TEAM, follow("f1"));
  const odd = `${TASK}/${TEAM}/f1`;
  provider.answer(`${TARGET}%2F`, failed(`cannot start with TOKEN=${SECRET}`));
  await world.handleFrom(
    TEAM,
    requestOf("f2", { operation: "follow-task", params: { task_id: odd } }),
  );

  await world.pass(10_000);

  expect(told(world, "f2")).toEqual([
    ["TaskFailed", NOT_SHOWN],
    ["CommandFailed", NOT_SHOWN],
  ]);
});
