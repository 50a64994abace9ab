import { describe, expect, test } from "vitest";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import { createPollerMemory } from "../../../../lib/engine/poller/poller-memory.ts";
import { createFaults } from "../../../support/faults.ts";
import { json, type SeenRequest, scriptProvider } from "../../../support/provider.ts";
import { requestOf } from "../../../support/requests.ts";
import { createWorld } from "../../../support/world.ts";

const LIST = "GET /cloud/v1/tasks";
const READ = "GET /v1/tasks/";
const OPEN = "NEW,RUNNING";
const ENDED = "FINISHED,ERROR";

const update = (index: number) =>
  requestOf(`c${index}`, {
    operation: "update-container",
    params: { project_id: 1, region_id: 1, container_name: `web-${index}` },
    body: {},
  });

interface ProviderTask {
  state: string;
  readonly createdAt: number;
}

/** A provider with one task for each command; all run until the test ends some. */
const tasksAtWork = (now: () => number) => {
  const tasks = new Map<string, ProviderTask>();
  let begun = 0;
  const recordOf = ([id, { state, createdAt }]: readonly [string, ProviderTask]) => ({
    id,
    state,
    created_on: new Date(createdAt).toISOString(),
  });
  const provider = scriptProvider({
    "PATCH ": () => {
      begun += 1;
      const id = `t${begun}`;
      tasks.set(id, { state: "RUNNING", createdAt: now() });
      return json(200, { tasks: [id] });
    },
    [READ]: ({ target }) => {
      const id = target.split("/").at(-1)!;
      const task = tasks.get(id);
      return task ? json(200, recordOf([id, task])) : json(404, {});
    },
    [LIST]: ({ query }: SeenRequest) => {
      const wanted = query.getAll("state");
      const time = (name: string, otherwise: number): number =>
        query.has(name) ? Date.parse(query.get(name)!) : otherwise;
      const [from, to] = [time("from_timestamp", 0), time("to_timestamp", Number.MAX_SAFE_INTEGER)];
      const found = [...tasks]
        .filter(([, { state }]) => wanted.includes(state))
        .filter(([, { createdAt }]) => createdAt >= from && createdAt <= to)
        .sort(([, a], [, b]) => a.createdAt - b.createdAt)
        .map(recordOf);
      const offset = Number(query.get("offset"));
      const results = found.slice(offset, offset + Number(query.get("limit")));
      return json(200, { count: found.length, results });
    },
  });
  return { provider, tasks };
};

const start = async (count: number, account: object = {}) => {
  const faults = createFaults();
  let now = (): number => 0;
  const { provider, tasks } = tasksAtWork(() => now());
  const world = await createWorld({
    provider: () => provider,
    accounts: { local: account },
    around: faults.around,
  });
  now = world.clock.now;
  for (let index = 1; index <= count; index++) await world.handle(update(index));
  const end = (...ids: readonly string[]): void => {
    for (const id of ids) tasks.get(id)!.state = "FINISHED";
  };
  /** Adds tasks of other clients. */
  const addOthers = (others: number, task: ProviderTask): void => {
    for (let index = 0; index < others; index++) tasks.set(`other-${tasks.size}`, { ...task });
  };
  /** Pages of lists by the states that were asked for. */
  const pages = (states: string): number =>
    provider.requests.filter(
      ({ target, query }) => target === LIST && query.getAll("state").join() === states,
    ).length;
  return { world, provider, tasks, faults, end, addOthers, pages };
};

/** A run of the poller with a single round. */
const ONE_ROUND_MS = 3_000;
const ids = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `t${index + 1}`);

describe("from two tasks on", () => {
  test("one list is read instead of each task", async () => {
    const { world, provider } = await start(2);
    await world.clock.advance(2_000);

    await world.poll();

    expect(provider.count(READ)).toBe(0);
    expect(provider.count(LIST)).toBeGreaterThanOrEqual(1);
    expect(provider.requests.at(-1)?.query.getAll("state")).toEqual(["NEW", "RUNNING"]);
    expect(provider.requests.at(-1)?.query.get("limit")).toBe("1000");
  });

  test.each([
    { created_resources: { things: "abc" } },
    { project_id: "12" },
    { error: { code: 5 } },
    { created_on: 5 },
  ])("another client's task with %j does not keep a list from being used", async (odd) => {
    const { world, provider } = await start(2);
    const foreign = { id: "foreign", state: "RUNNING", ...odd };
    const all = [{ id: "t1", state: "RUNNING" }, { id: "t2", state: "RUNNING" }, foreign];
    provider.answer(LIST, () => json(200, { count: 3, results: all }));
    await world.clock.advance(2_000);

    await world.poll();

    expect(provider.count(READ)).toBe(0);
    expect(provider.count(LIST)).toBeGreaterThanOrEqual(1);
  });

  test("a check that finds nothing new reads and writes nothing for any of them", async () => {
    const { world, faults, pages } = await start(8);
    await world.clock.advance(31_000);
    await world.poll(ONE_ROUND_MS);
    const before = faults.calls.length;

    await world.poll();

    expect(pages(OPEN)).toBeGreaterThan(5);
    const calls = faults.calls.slice(before);
    const writes = calls.filter((call) => call.startsWith("ledger.write"));
    expect([...new Set(writes)]).toEqual(["ledger.write lease#poll-tasks"]);
    const reads = calls.filter((call) => call.startsWith("ledger.read task#"));
    expect(reads.length).toBe(new Set(reads).size);
  });

  test("a task that is in no list is read by itself for its end", async () => {
    const { world, provider, tasks, end } = await start(8);
    end("t3");
    tasks.get("t4")!.state = "ERROR";
    tasks.delete("t5");
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(world.publishedTypes("c3").at(-1)).toBe("CommandSucceeded");
    expect(world.publishedTypes("c4").at(-1)).toBe("CommandFailed");
    expect((await world.command("c5"))?.state.status).toBe("following");
    const read = provider.requests.filter(({ target }) => target.startsWith(READ));
    expect(read.map(({ target }) => target.slice(READ.length))).toEqual(["t5"]);
  });

  test("more than a page of them is read page by page", async () => {
    const { world, provider, addOthers } = await start(5);
    addOthers(1_500, { state: "RUNNING", createdAt: world.clock.now() - 1_000 });
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(provider.count(READ)).toBe(0);
    const offsets = provider.requests
      .filter(({ target }) => target === LIST)
      .map(({ query }) => query.get("offset"));
    expect(offsets).toEqual(["0", "1000"]);
  });

  test("a list with more pages than tasks is left after its first page", async () => {
    const { world, provider, addOthers, pages } = await start(3);
    addOthers(5_000, { state: "RUNNING", createdAt: world.clock.now() - 1_000 });
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);
    expect(pages(OPEN)).toBe(1);
    expect(provider.count(READ)).toBe(3);
  });

  test("the run does not ask again for a list that has too many pages", async () => {
    const { world, addOthers, pages } = await start(3);
    addOthers(5_000, { state: "RUNNING", createdAt: world.clock.now() - 1_000 });
    await world.clock.advance(2_000);

    await world.poll();

    expect(pages(OPEN)).toBe(1);
  });

  test("a new task waits for the next list of its account", async () => {
    const { world, provider, pages } = await start(3);
    await world.clock.advance(2_000);
    const run = world.poll(9_000);
    await world.clock.advance(100);
    await world.handle(update(4));

    await run;

    // At 2 s, 6 s and 10 s.
    expect(pages(OPEN)).toBe(3);
    expect(provider.count(READ)).toBe(0);
  });

  test.each([
    ["forbids the list", () => json(403, { message: "no" })],
    ["has no list", () => json(404, {})],
    ["refuses the list's parameters", () => json(400, {})],
    ["lists a task that breaks the contract", () => json(200, { count: 1, results: [{ id: 7 }] })],
    ["answers the list with a page of HTML", () => new Response("<html>")],
  ])("they are read one by one where the API %s", async (_what, answer) => {
    const { world, provider, end } = await start(5);
    provider.answer(LIST, answer);
    end("t3");
    await world.clock.advance(31_000);

    await world.poll();

    const last = world.bus.published().at(-1);
    expect(last).toMatchObject({ detailType: "CommandSucceeded", data: { durationMs: 31_000 } });
  });

  test("a run requests a refused list once, also when the tasks are due together again", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(403, { message: "no" }));
    provider.answer(READ, () => json(429, {}, { "retry-after": "20" }));
    await world.clock.advance(31_000);

    await world.poll();

    expect(provider.count(LIST)).toBe(1);
    expect(provider.count(READ)).toBeGreaterThan(5);
  });

  test("an account in trouble gets no further request", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(503, {}));
    await world.clock.advance(31_000);

    await world.poll();

    expect(provider.count(READ)).toBe(0);
  });

  test("after a failed list, tasks that become due before the next one wait for it", async () => {
    const { world, provider, pages } = await start(2);
    await world.clock.advance(600_000);
    const memory = createPollerMemory("one");
    const run = async (): Promise<void> => {
      const budget = { endsAt: world.clock.now() + 50_000, signal: new AbortController().signal };
      await world.drive(pollDue(world.newInvocation().deps, budget, memory));
    };
    const untilWake = (beforeMs = 0) =>
      world.clock.advance(world.wakes.at(-1)! - beforeMs - world.clock.now());
    // The two are listed again after 22 s. Shortly before, the list fails for a third one.
    await run();
    await untilWake(3_000);
    provider.answer(LIST, () => json(503, {}));
    await world.handle(update(3));

    for (let count = 1; count <= 5; count += 1) {
      await run();
      await untilWake();
    }

    expect(pages(OPEN)).toBeGreaterThan(2);
    expect(provider.count(READ)).toBe(0);
  });

  test("after a failed list, tasks with an earlier pause of their own wait for the next one", async () => {
    const { world, provider } = await start(5);
    await world.clock.advance(2_000);
    const memory = createPollerMemory("one");
    const run = async (): Promise<void> => {
      const budget = { endsAt: world.clock.now() + 1, signal: new AbortController().signal };
      await world.drive(pollDue(world.newInvocation().deps, budget, memory));
    };
    provider.answer(LIST, () => json(429, {}, { "retry-after": "10" }));
    await run();
    await world.clock.advance(7_500);
    for (const index of [6, 7, 8]) await world.handle(update(index));
    provider.answer(LIST, () => json(503, {}));
    await world.clock.advance(2_400);
    await run();
    const lists = provider.count(LIST);

    await world.clock.advance(200);
    await run();

    expect(lists).toBe(2);
    expect(provider.count(READ)).toBe(0);
  });

  test("a pause that the provider asks for is obeyed", async () => {
    const { world, provider } = await start(5);
    provider.answer(LIST, () => json(429, {}, { "retry-after": "40" }));
    await world.clock.advance(31_000);

    await world.poll();

    expect(provider.count(LIST)).toBe(2);
  });
});

describe("tasks that have ended", () => {
  test("are found by one list of those that began with them", async () => {
    const { world, provider, end, pages } = await start(50);
    end(...ids(49));
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(pages(OPEN)).toBe(1);
    expect(pages(ENDED)).toBe(1);
    expect(provider.count(READ)).toBe(0);
    const ended = world.publishedTypes().filter((type) => type === "CommandSucceeded");
    expect(ended).toHaveLength(49);
  });

  test("a thousand of them cost no second page", async () => {
    const { world, provider, end, pages } = await start(1_000);
    end(...ids(1_000));
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(pages(OPEN)).toBe(1);
    expect(pages(ENDED)).toBe(1);
    expect(provider.count(READ)).toBe(0);
  });

  test.each([
    ["10,000", 10_000],
    ["100,000", 100_000],
  ])("are read one by one among %s tasks of other clients", async (_name, others) => {
    const { world, provider, end, addOthers, pages } = await start(5);
    addOthers(others, { state: "FINISHED", createdAt: world.clock.now() - 1_000 });
    end("t1", "t2", "t3");
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(pages(ENDED)).toBe(1);
    expect(provider.count(READ)).toBe(3);
    expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(3);
  });

  test("pages are read while there are no more of them than missing tasks", async () => {
    const { world, provider, end, addOthers, pages } = await start(20);
    addOthers(10_000, { state: "FINISHED", createdAt: world.clock.now() - 1_000 });
    end(...ids(20));
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(pages(ENDED)).toBe(11);
    expect(provider.count(READ)).toBe(0);
  });

  test("an old one does not widen the list of the young ones", async () => {
    const { world, provider, end, addOthers, pages } = await start(1);
    await world.clock.advance(7_200_000 - 60_000);
    addOthers(3_000, { state: "FINISHED", createdAt: world.clock.now() - 3_600_000 });
    for (let index = 2; index <= 5; index++) await world.handle(update(index));
    end(...ids(5));
    await world.clock.advance(2_000);

    await world.poll(ONE_ROUND_MS);

    expect(pages(ENDED)).toBe(1);
    expect(provider.requests.at(-1)?.target).toBe(`${READ}t1`);
    expect(provider.count(READ)).toBe(1);
  });

  test("a list that grows between two pages hides none of them", async () => {
    const { world, provider, end, addOthers, tasks } = await start(30);
    addOthers(1_490, { state: "FINISHED", createdAt: world.clock.now() - 1_000 });
    end(...ids(30));
    await world.clock.advance(2_000);
    const run = world.poll(ONE_ROUND_MS);
    const { fetch } = provider;
    provider.fetch = async (...call) => {
      const reply = await fetch(...call);
      const createdAt = world.clock.now() - 10_000;
      for (let index = 0; index < 400; index++)
        tasks.set(`late-${tasks.size}`, { state: "FINISHED", createdAt });
      return reply;
    };

    await run;

    expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(30);
  });

  test("are read one by one where the API refuses their list", async () => {
    const { world, provider, end, pages } = await start(5);
    end("t1", "t2");
    const lists = provider.requests;
    provider.answer(LIST, ({ query }: SeenRequest) =>
      query.getAll("state").join() === ENDED
        ? json(403, { message: "no" })
        : json(200, {
            count: 3,
            results: ids(5)
              .slice(2)
              .map((id) => ({ id, state: "RUNNING" })),
          }),
    );
    await world.clock.advance(2_000);

    await world.poll();

    expect(lists.length).toBeGreaterThan(0);
    expect(pages(ENDED)).toBe(1);
    expect(provider.count(READ)).toBe(2);
    expect(world.publishedTypes().filter((type) => type === "CommandSucceeded")).toHaveLength(2);
  });
});

test("one task is read by itself", async () => {
  const { world, provider } = await start(1);
  await world.clock.advance(2_000);

  await world.poll();

  expect(provider.count(LIST)).toBe(0);
  expect(provider.count(READ)).toBeGreaterThanOrEqual(10);
});

test("an account without lists is read one by one however many tasks there are", async () => {
  const { world, provider } = await start(6, { canList: false });
  await world.clock.advance(2_000);

  await world.poll();

  expect(provider.count(LIST)).toBe(0);
  expect(provider.count(READ)).toBeGreaterThanOrEqual(6);
});

test("many tasks of one command that end at once end it once", async () => {
  const taskIds = Array.from({ length: 40 }, (_, index) => `t${index}`);
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: taskIds }),
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

test("a task that becomes due while a list is refused is read next, and not after another pause", async () => {
  const { world, provider } = await start(8);
  const readAt = new Map<string, number>();
  const waits: number[] = [];
  provider.answer(READ, ({ target }) => {
    const now = world.clock.now();
    waits.push(now - (readAt.get(target) ?? now));
    readAt.set(target, now);
    return json(200, { id: target.split("/").at(-1), state: "RUNNING" });
  });
  provider.answer(LIST, async () => {
    await world.clock.sleep(9_000);
    return json(403, {});
  });
  const memory = createPollerMemory("one");
  // The refused list is tried again after five minutes.
  for (const endsAt = world.clock.now() + 400_000; world.clock.now() < endsAt; ) {
    const budget = { endsAt: world.clock.now() + 50_000, signal: new AbortController().signal };
    await world.drive(pollDue(world.newInvocation().deps, budget, memory));
    await world.clock.advance(500);
  }

  // 7.5 % of seven minutes and a list.
  expect(provider.count(LIST)).toBe(2);
  expect(Math.max(...waits)).toBeLessThan(31_500 + 9_000 + 2_000);
});
