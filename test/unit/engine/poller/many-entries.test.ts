import { beforeEach, expect, test } from "vitest";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import {
  createPollerMemory,
  entryCount,
  type PollerMemory,
} from "../../../../lib/engine/poller/poller-memory.ts";
import { endTask, type Task, taskKey, tasks } from "../../../../lib/engine/task.ts";
import { json, type SeenRequest, scriptProvider } from "../../../support/provider.ts";
import { updateContainer } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const MANY = 300;
/** More tasks than the items that a round reads. */
const MORE = 1_500;

/** States of the provider's tasks that have ended, by id; all others run. */
let ended: Set<string>;
let world: World;
/** Due times from which the queries so far have read; undefined: all. */
let queries: (number | undefined)[];
let listed: number[];
let createdAt: number;

const record = (id: string) => ({
  id,
  state: ended.has(id) ? "FINISHED" : "RUNNING",
  created_on: new Date(createdAt).toISOString(),
});

const provider = scriptProvider({
  "PATCH ": () => json(200, { tasks: ["own"] }),
  "GET /cloud/v1/tasks": ({ query }: SeenRequest) => {
    const wanted = query.getAll("state");
    const all = [...Array.from({ length: MORE }, (_, index) => `t${index}`), "own", "late"];
    const results = all.map(record).filter(({ state }) => wanted.includes(state));
    return json(200, { count: results.length, results });
  },
  "GET /v1/tasks/": ({ target }) => json(200, record(target.split("/").at(-1) ?? "")),
});

const write = async (id: string, recordedAt: number): Promise<void> => {
  const task: Task = {
    ...{ account: "local", id, command: `team/${id}`, operation: "update-container" },
    ...{ recordedAt, deadline: recordedAt + 86_400_000, lookAt: recordedAt + 2_000 },
    state: { status: "open" },
  };
  await tasks.write(world.ledger, taskKey(task), undefined, task);
};

const run = async (memory: PollerMemory): Promise<void> => {
  const budget = { endsAt: world.clock.now() + 50_000, signal: new AbortController().signal };
  await world.drive(pollDue(world.newInvocation().deps, budget, memory));
};

/** Runs the poller every five seconds. */
const runFor = async (memory: PollerMemory, durationMs: number): Promise<void> => {
  const endsAt = world.clock.now() + durationMs;
  while (world.clock.now() < endsAt) {
    await world.clock.advance(5_000);
    await run(memory);
  }
};

beforeEach(async () => {
  ended = new Set();
  queries = [];
  listed = [];
  world = await createWorld({ provider: () => provider });
  const { listDue } = world.ledger;
  world.ledger.listDue = async (until, limit, shard, from) => {
    const entries = await listDue(until, limit, shard, from);
    queries.push(from);
    listed.push(entries.length);
    return entries;
  };
  const now = world.clock.now();
  createdAt = now - 3_600_000;
  for (let index = 0; index < MANY; index += 1) await write(`t${index}`, createdAt);
});

test("with many open tasks, a process reads the whole shard once a minute", async () => {
  await runFor(createPollerMemory("one"), 120_000);

  const whole = listed.filter((count) => count >= MANY);
  expect(whole.length).toBeGreaterThanOrEqual(2);
  expect(whole.length).toBeLessThanOrEqual(3);
  expect(listed.filter((count) => count < MANY).every((count) => count === 0)).toBe(true);
  expect(queries.filter((from) => from !== undefined).length).toBeGreaterThan(10);
});

test("a query of what is new finds a command with a task, which is followed to its end", async () => {
  const memory = createPollerMemory("one");
  await run(memory);
  await world.clock.advance(5_000);
  await world.handle(updateContainer("c1"));
  ended.add("own");

  await runFor(memory, 15_000);

  expect(world.publishedTypes("c1")).toContain("CommandSucceeded");
  expect(queries.filter((from) => from === undefined)).toHaveLength(1);
});

test("a task that has ended is forgotten before the next whole query", async () => {
  const memory = createPollerMemory("one");
  await run(memory);
  expect(entryCount(memory)).toBe(MANY);
  ended.add("t7");

  await runFor(memory, 50_000);

  expect(queries.filter((from) => from === undefined)).toHaveLength(1);
  expect(entryCount(memory)).toBe(MANY - 1);
  const item = await tasks.read(world.ledger, "local/t7");
  expect(item?.value.state.status).toBe("finished");
});

test("an entry that was due long before it was written is found by the next whole query", async () => {
  const memory = createPollerMemory("one");
  await run(memory);
  await write("late", world.clock.now() - 600_000);
  ended.add("late");
  await runFor(memory, 40_000);
  expect((await tasks.read(world.ledger, "local/late"))?.value.state.status).toBe("open");

  await runFor(memory, 30_000);

  expect((await tasks.read(world.ledger, "local/late"))?.value.state.status).toBe("finished");
});

test("a process reads the whole shard after another one has run the poller", async () => {
  const [one, other] = [createPollerMemory("one"), createPollerMemory("other")];
  await run(one);
  await world.clock.advance(5_000);
  await run(one);
  expect(queries.at(-1)).toBeDefined();
  await world.clock.advance(20_000);
  ended.add("t3");
  await run(other);
  await world.clock.advance(5_000);

  await run(one);

  expect(queries.at(-1)).toBeUndefined();
  expect(entryCount(one)).toBe(MANY - 1);
});

const writeMore = async (): Promise<void> => {
  for (let index = MANY; index < MORE; index += 1) await write(`t${index}`, createdAt + index);
};

/** Keys of the task items that are read in a run of a new process. */
const itemsReadIn = async (memory: PollerMemory): Promise<readonly string[]> => {
  const { read } = world.ledger;
  const keys: string[] = [];
  world.ledger.read = (key) => {
    if (key.startsWith("task#")) keys.push(key);
    return read(key);
  };
  await run(memory);
  world.ledger.read = read;
  return keys;
};

test("a new process follows open tasks without their items, which it reads by and by", async () => {
  await writeMore();
  const memory = createPollerMemory("one");

  const first = await itemsReadIn(memory);
  await world.clock.advance(5_000);
  const second = await itemsReadIn(memory);

  expect(first).toHaveLength(1_000);
  expect(second).toHaveLength(500);
  expect(new Set([...first, ...second]).size).toBe(MORE);
});

test("the item of a task that has ended is read, whether the process knew it or not", async () => {
  await writeMore();
  ended.add("t0");
  ended.add(`t${MORE - 1}`);

  const read = await itemsReadIn(createPollerMemory("one"));

  expect(read).toHaveLength(1_001);
  for (const id of ended) {
    const item = await tasks.read(world.ledger, `local/${id}`);
    expect(item?.value.state).toMatchObject({ status: "finished", told: true });
  }
});

test("a task whose end was recorded, but not published, is completed without its item at hand", async () => {
  await writeMore();
  ended.add(`t${MORE - 1}`);
  const change = (task: Task) => endTask(task, { status: "finished" }, world.clock.now());
  await tasks.update(world.ledger, `local/t${MORE - 1}`, change);

  await run(createPollerMemory("one"));

  const item = await tasks.read(world.ledger, `local/t${MORE - 1}`);
  expect(item?.value.state).toMatchObject({ status: "finished", told: true });
});
