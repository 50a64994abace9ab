import { describe, expect, test } from "vitest";
import { createFaults } from "../../../support/faults.ts";
import { json, type SeenRequest, scriptProvider } from "../../../support/provider.ts";
import { requestOf } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const LIST = "GET /cloud/v1/tasks";
const READ = "GET /v1/tasks/";

const update = (index: number) =>
  requestOf(`c${index}`, {
    operation: "update-container",
    params: { project_id: 1, region_id: 1, container_name: `web-${index}` },
    body: {},
  });

/** A provider with one task for each command; all run until the test ends some. */
const tasksAtWork = () => {
  const states = new Map<string, string>();
  const provider = scriptProvider({
    "PATCH ": () => {
      const id = `t${states.size + 1}`;
      states.set(id, "RUNNING");
      return json(200, { tasks: [id] });
    },
    [READ]: ({ target }) => {
      const id = target.split("/").at(-1)!;
      return states.has(id) ? json(200, { id, state: states.get(id) }) : json(404, {});
    },
    [LIST]: ({ query }: SeenRequest) => {
      const wanted = query.getAll("state");
      const found = [...states]
        .filter(([, state]) => wanted.includes(state))
        .map(([id, state]) => ({ id, state }));
      const from = Number(query.get("offset"));
      const results = found.slice(from, from + Number(query.get("limit")));
      return json(200, { count: found.length, results });
    },
  });
  return { provider, states };
};

const start = async (count: number, account: object = {}) => {
  const { provider, states } = tasksAtWork();
  const faults = createFaults();
  const world = await createWorld({
    provider: () => provider,
    accounts: { local: account },
    around: faults.around,
  });
  for (let index = 1; index <= count; index++) await world.handle(update(index));
  await world.clock.advance(31_000);
  return { world, provider, states, faults };
};

describe("from five tasks on", () => {
  test("one list is read instead of each task", async () => {
    const { world, provider } = await start(5);

    await world.poll();

    expect(provider.count(READ)).toBe(0);
    expect(provider.count(LIST)).toBeGreaterThanOrEqual(1);
    expect(provider.requests.at(-1)?.query.getAll("state")).toEqual(["NEW", "RUNNING"]);
    expect(provider.requests.at(-1)?.query.get("limit")).toBe("1000");
  });

  test("a check that finds nothing new writes nothing for any of them", async () => {
    const { world, faults } = await start(8);
    await world.poll();
    const before = faults.calls.length;

    await world.clock.advance(60_000);
    await world.poll();

    const writes = faults.calls.slice(before).filter((call) => call.startsWith("ledger.write"));
    expect([...new Set(writes)]).toEqual(["ledger.write lease#poll-tasks"]);
  });

  test("a task that is no longer listed is read by itself for its end", async () => {
    const { world, provider, states } = await start(8);
    states.set("t3", "FINISHED");
    states.set("t4", "ERROR");
    states.delete("t5");

    await world.poll();

    expect(world.publishedTypes("c3").at(-1)).toBe("CommandSucceeded");
    expect(world.publishedTypes("c4").at(-1)).toBe("CommandFailed");
    expect((await world.command("c5"))?.state.status).toBe("following");
    const read = provider.requests.filter(({ target }) => target.startsWith(READ));
    expect(new Set(read.map(({ target }) => target.slice(READ.length)))).toEqual(
      new Set(["t3", "t4", "t5"]),
    );
  });

  test("more than a page of them is read page by page", async () => {
    const { world, provider, states } = await start(5);
    const foreign = Array.from({ length: 1_500 }, (_, index) => `foreign-${index}`);
    const own = [...states];
    states.clear();
    for (const id of foreign) states.set(id, "RUNNING");
    for (const [id, state] of own) states.set(id, state);

    await world.poll();

    expect(provider.count(READ)).toBe(0);
    const offsets = provider.requests
      .filter(({ target }) => target === LIST)
      .map(({ query }) => query.get("offset"));
    expect(offsets.slice(0, 2)).toEqual(["0", "1000"]);
  });

  test.each([
    ["forbids the list", () => json(403, { message: "no" })],
    ["has no list", () => json(404, {})],
    ["refuses the list's parameters", () => json(400, {})],
    ["lists a task that breaks the contract", () => json(200, { count: 1, results: [{ id: 7 }] })],
    ["answers the list with a page of HTML", () => new Response("<html>")],
  ])("they are read one by one where the API %s", async (_what, answer) => {
    const { world, provider, states } = await start(5);
    provider.answer(LIST, answer);
    states.set("t3", "FINISHED");

    await world.poll();

    const end = world.bus.published().at(-1);
    expect(end).toMatchObject({ detailType: "CommandSucceeded", data: { durationMs: 31_000 } });
  });

  test("a run requests a refused list once, also when the tasks are due together again", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(403, { message: "no" }));
    provider.answer(READ, () => json(429, {}, { "retry-after": "20" }));

    await world.poll();

    expect(provider.count(LIST)).toBe(1);
    expect(provider.count(READ)).toBeGreaterThan(5);
  });

  test("an account in trouble gets no further request", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(503, {}));

    await world.poll();

    expect(provider.count(READ)).toBe(0);
  });

  test("a pause that the provider asks for is obeyed", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(429, {}, { "retry-after": "40" }));

    await world.poll();

    expect(provider.count(LIST)).toBe(2);
  });
});

test("four tasks are read one by one", async () => {
  const { world, provider } = await start(4);

  await world.poll();

  expect(provider.count(LIST)).toBe(0);
  expect(provider.count(READ)).toBeGreaterThanOrEqual(4);
});

test("an account without lists is read one by one however many tasks there are", async () => {
  const { world, provider } = await start(6, { canList: false });

  await world.poll();

  expect(provider.count(LIST)).toBe(0);
  expect(provider.count(READ)).toBeGreaterThanOrEqual(6);
});

test("many tasks of one command that end at once end it once", async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `t${index}`);
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: ids }),
    [LIST]: () => json(200, { count: 0, results: [] }),
    [READ]: ({ target }) => json(200, { id: target, state: "FINISHED" }),
  });
  const world = await createWorld({ provider: () => provider });
  await world.send(update(1));

  await world.untilQuiet();

  expect(
    world.publishedTypes().filter((type) => type === "TaskFinished").length,
  ).toBeGreaterThanOrEqual(40);
  expect(new Set(world.publishedTypes())).toEqual(
    new Set(["CommandAccepted", "TaskFinished", "CommandSucceeded"]),
  );
});
