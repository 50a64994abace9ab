import { expect, test } from "vitest";
import { liveTaskSchema, readLiveTask } from "../../../lib/admin/live-task.ts";
import { connectionLost, json, scriptProvider } from "../../support/provider.ts";
import { createRouter, updateContainer } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const TASK = "7f2f2c4e-1a60-4f3e-9a0d-2f9f2b6f1a01";
const TARGET = `GET /v1/tasks/${TASK}`;
const SECRET = "canary-secret-value";

/** A world with one task, which has the given record at the provider. */
const start = async (record: object) => {
  const provider = scriptProvider({
    "PATCH ": () => json(200, { tasks: [TASK] }),
    "POST ": () => json(200, { tasks: [TASK] }),
    [TARGET]: () => json(200, { id: TASK, ...record }),
  });
  const world = await createWorld({ provider: () => provider });
  const { deps } = world.newInvocation();
  /** The answer as the page gets it. */
  const read = async (id = TASK) =>
    liveTaskSchema.parse(
      JSON.parse(JSON.stringify(await readLiveTask(deps, { account: "local", id }))),
    );
  return { world, provider, read };
};

test("a running task is read with its times, and its record stays as it is", async () => {
  const times = { created_on: "2026-01-31T12:00:00", updated_on: "2026-01-31T12:00:01" };
  const { world, provider, read } = await start({
    state: "RUNNING",
    task_type: "create_router",
    ...times,
    finished_on: null,
    error: null,
    created_resources: null,
  });
  await world.handle(createRouter("c1"));
  const before = await world.ledger.read(`task#local/${TASK}`);

  expect(await read()).toEqual({
    kind: "read",
    state: "RUNNING",
    taskType: "create_router",
    createdAt: times.created_on,
    updatedAt: times.updated_on,
  });
  expect(await world.ledger.read(`task#local/${TASK}`)).toEqual(before);
  expect(provider.count(TARGET)).toBe(1);
});

test("an ended task is read with what it created, before the poller sees its end", async () => {
  const { world, read } = await start({
    state: "FINISHED",
    finished_on: "2026-01-31T12:00:09",
    created_resources: { routers: ["r1"] },
  });
  await world.handle(createRouter("c1"));
  const before = await world.ledger.read(`task#local/${TASK}`);

  expect(await read()).toEqual({
    kind: "read",
    state: "FINISHED",
    finishedAt: "2026-01-31T12:00:09",
    createdResources: { routers: ["r1"] },
  });
  expect(await world.ledger.read(`task#local/${TASK}`)).toEqual(before);
  expect((await world.command("c1"))?.state.status).toBe("following");
});

test("the error text has no secret of the request that started the task", async () => {
  const { world, read } = await start({ state: "ERROR", error: `no start with ${SECRET}` });
  await world.handle(updateContainer("c1", { envs: { TOKEN: SECRET } }));

  expect(await read()).toEqual({ kind: "read", state: "ERROR", error: "no start with [redacted]" });
});

test("the error text of a task that no command started is hidden", async () => {
  const { read } = await start({ state: "ERROR", error: `no start with ${SECRET}` });

  expect(JSON.stringify(await read())).toContain("text is hidden");
});

test("a task that the provider does not know is unknown", async () => {
  const { read } = await start({ state: "RUNNING" });

  expect(await read("another")).toEqual({ kind: "unknown" });
});

test("a provider without an answer gives the code and the time to wait", async () => {
  const { provider, read } = await start({});
  provider.answer(TARGET, () => json(429, {}, { "retry-after": "7" }));
  const throttled = await read();
  provider.answer(TARGET, connectionLost);
  const lost = await read();

  expect(throttled).toMatchObject({ kind: "unreadable", code: "throttled", retryAfterMs: 7_000 });
  expect(lost).toMatchObject({ kind: "unreadable", code: "connection-lost" });
});

test("an unknown account has no tasks", async () => {
  const { world } = await start({});
  const { deps } = world.newInvocation();

  expect(await readLiveTask(deps, { account: "other", id: TASK })).toBeUndefined();
});

test("an id that no path can contain is unknown without a request", async () => {
  const { provider, read } = await start({});

  expect(await read("..")).toEqual({ kind: "unknown" });
  expect(provider.requests).toEqual([]);
});
