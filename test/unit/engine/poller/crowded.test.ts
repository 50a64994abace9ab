import { beforeEach, expect, test } from "vitest";
import { pollDue } from "../../../../lib/engine/poller/poll.ts";
import { type Task, taskKey, tasks } from "../../../../lib/engine/task.ts";
import { json, scriptProvider } from "../../../support/provider.ts";
import { updateContainer, updatePolicy } from "../../../support/requests.ts";
import { createWorld, type World } from "../../../support/world.ts";

const CROWD = 12_000;
const provider = scriptProvider({
  "PATCH ": () => json(200, { tasks: ["own-task"] }),
  "GET /v1/tasks/own-task": () => json(200, { id: "own-task", state: "FINISHED" }),
  "GET /v1/tasks/crowd": () => json(200, { id: "crowd", state: "RUNNING" }),
});

/** Open tasks that are all due before anything else. */
let world: World;
beforeEach(async () => {
  world = await createWorld({ provider: () => provider });
  const now = world.clock.now();
  for (let index = 0; index < CROWD; index++) {
    const task: Task = {
      account: "local",
      id: "crowd",
      command: `team/f${index}`,
      operation: "follow-task",
      followedBy: "own",
      recordedAt: now - 86_400_000,
      deadline: now + 86_400_000,
      lookAt: now - 86_400_000,
      state: { status: "open" },
    };
    await tasks.write(world.ledger, taskKey(task), undefined, task);
  }
});

test("a task that is due after 12,000 open ones is checked", async () => {
  await world.handle(updateContainer("c1"));

  await world.poll(10_000);

  expect(world.publishedTypes("c1")).toEqual([
    "CommandAccepted",
    "TaskFinished",
    "CommandSucceeded",
  ]);
});

test("a command that is due after 12,000 open tasks is handled", async () => {
  provider.answer("PATCH ", () => json(429, {}, { "retry-after": "3" }));
  await world.handle(updatePolicy("p1"));
  provider.answer("PATCH ", () => json(200, {}));

  await world.poll(10_000);
  await world.deliver();

  expect(world.publishedTypes("p1")).toEqual(["CommandAccepted", "CommandSucceeded"]);
});

test("each of 12,000 open tasks is read once in a run, and written never", async () => {
  const { read, write } = world.ledger;
  const keys: string[] = [];
  const written: string[] = [];
  world.ledger.read = (key) => {
    keys.push(key);
    return read(key);
  };
  world.ledger.write = (item) => {
    written.push(item.key);
    return write(item);
  };

  await world.poll(10_000);

  const ofTasks = keys.filter((key) => key.startsWith("task#"));
  expect(ofTasks).toHaveLength(CROWD);
  expect(new Set(ofTasks).size).toBe(CROWD);
  expect(new Set(written)).toEqual(new Set(["lease#poll-tasks"]));
  expect(world.errors).toEqual([]);
});

test("a run that is stopped during 12,000 open tasks begins nothing new", async () => {
  const stop = new AbortController();
  const endsAt = world.clock.now() + 10_000;
  provider.answer("GET /v1/tasks/crowd", () => {
    stop.abort();
    return json(200, { id: "crowd", state: "RUNNING" });
  });

  await pollDue(world.newInvocation().deps, { endsAt, signal: stop.signal });

  expect(await world.ledger.listDue(world.clock.now(), CROWD)).toHaveLength(CROWD);
});

test("a run that is stopped while it reads 12,000 open tasks reads no further", async () => {
  const stop = new AbortController();
  const { read } = world.ledger;
  let reads = 0;
  world.ledger.read = (key) => {
    if (key.startsWith("task#")) {
      stop.abort();
      reads += 1;
    }
    return read(key);
  };

  const budget = { endsAt: world.clock.now() + 10_000, signal: stop.signal };
  await pollDue(world.newInvocation().deps, budget);

  expect(reads).toBe(1);
});
