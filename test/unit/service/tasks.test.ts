import { expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { RouterRecord } from "../../../lib/service/state/routers.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { CONTAINER, POOL, ROUTERS, startService } from "./harness.ts";

const BUILT_IN_TASK = "d478ae29-dedc-4869-82f0-96104425f565";
const asSecondClient = { headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` } };

test("a task is NEW, then RUNNING, then FINISHED, each from its instant on", async () => {
  const { send, clock } = await startService({ taskDurationMs: 10_000 });
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });
  const look = async () => (await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`)).body;

  const atOnce = await look();
  await clock.advance(1_999);
  const queued = await look();
  await clock.advance(1);
  const started = await look();
  await clock.advance(7_999);
  const running = await look();
  await clock.advance(1);
  const finished = await look();
  await clock.advance(86_400_000);
  const later = await look();

  expect(atOnce).toEqual({
    id: accepted.body.tasks[0],
    task_type: "patch_caas_container",
    state: "NEW",
    created_on: "2026-01-01T00:00:00.000Z",
    updated_on: null,
    finished_on: null,
    error: null,
    created_resources: null,
    data: { container_name: "my-container", timeout: 5 },
    user_id: 11,
    client_id: 1,
    user_client_id: 1,
    project_id: 1234567,
    region_id: 76,
    detailed_state: null,
    request_id: null,
    job_id: null,
    lifecycle_policy_id: null,
    schedule_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
  });
  expect([queued.state, started.state, running.state]).toEqual(["NEW", "RUNNING", "RUNNING"]);
  expect(started.updated_on).toBe("2026-01-01T00:00:02.000Z");
  expect(finished).toMatchObject({
    state: "FINISHED",
    updated_on: "2026-01-01T00:00:10.000Z",
    finished_on: "2026-01-01T00:00:10.000Z",
  });
  expect(later).toEqual(finished);
});

test("a task that nobody looked at in between has ended at its own instant, not at the look", async () => {
  const { send, clock } = await startService();
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

  await clock.advance(3_600_000);

  const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
  expect(task.body).toMatchObject({ state: "FINISHED", finished_on: "2026-01-01T00:00:10.000Z" });
});

test("the duration of tasks is the one that the service was started with", async () => {
  const { send, clock } = await startService({ taskDurationMs: 50 });
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

  await clock.advance(50);

  const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
  expect(task.body.state).toBe("FINISHED");
});

test("both task paths answer the same", async () => {
  const { send } = await startService();

  const documented = await send("GET", `/v1/tasks/${BUILT_IN_TASK}`);
  const published = await send("GET", `/cloud/v1/tasks/${BUILT_IN_TASK}`);

  expect([documented.status, published.status]).toEqual([200, 200]);
  expect(published.body).toEqual(documented.body);
  expect(documented.body).toMatchObject({ id: BUILT_IN_TASK, state: "FINISHED" });
});

test.each([
  "00000000-0000-4000-8000-000000000000",
  "no-uuid",
  "%2e%2e%2f",
  "a%2Fb",
  "%F0%9F%98%80",
])("the unknown task id %s is answered 404", async (id) => {
  const { send } = await startService();

  const answer = await send("GET", `/v1/tasks/${id}`);

  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject({ exception_class: "NotFoundError" });
});

test("a task of another client is answered 404 and not listed", async () => {
  const { send } = await startService();

  const read = await send("GET", `/v1/tasks/${BUILT_IN_TASK}`, asSecondClient);
  const list = await send("GET", "/cloud/v1/tasks", asSecondClient);

  expect(read.status).toBe(404);
  expect(list.body).toEqual({ count: 0, results: [] });
});

test("a task stays with its client even where another client's key reaches the project", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      keys: builtIn.keys.map((key) => ({ ...key, project_ids: [1234567] })),
    }),
  });

  const read = await send("GET", `/v1/tasks/${BUILT_IN_TASK}`, asSecondClient);
  const list = await send("GET", "/cloud/v1/tasks", asSecondClient);

  expect(read.status).toBe(404);
  expect(list.body.count).toBe(0);
});

/** A router made earlier has the lower address in the subnet that all of them are on. */
const addressesByName = (records: Record<string, RouterRecord>) =>
  Object.fromEntries(
    Object.entries(records)
      .filter(([key, { name }]) => key.startsWith("routers/") && name !== "my_wonderful_router")
      .map(([, { name, interfaces }]) => [name, interfaces[0]?.ip_assignments[0]?.ip_address]),
  );

test("tasks that end at the same instant end in the order in which they were created", async () => {
  const { send, clock, stored } = await startService();
  const subnet = { interfaces: [{ subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }] };
  for (const name of ["one", "two", "three"]) {
    await send("POST", ROUTERS, { body: { name, ...subnet } });
  }

  await clock.advance(10_000);

  await send("GET", POOL);
  expect(addressesByName(await stored())).toEqual({
    one: "10.0.0.1",
    two: "10.0.0.2",
    three: "10.0.0.3",
  });
});

test("a task that has ended does its work once", async () => {
  const { send, clock, stored } = await startService();
  await send("PATCH", POOL, { body: { name: "from the task" } });
  await clock.advance(10_000);
  await send("GET", POOL);
  await send("PATCH", POOL, { body: { name: "changed again" } });
  await clock.advance(10_000);

  await send("GET", POOL);
  const before = await stored();
  await clock.advance(10_000);
  await send("GET", POOL);

  expect(await stored()).toEqual(before);
});

test("what is due earlier ends earlier, even if it was created later", async () => {
  const store = createMemoryStore();
  const interfaces = [{ subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }];
  const slow = await startService({ store, taskDurationMs: 10_000 });
  const first = await slow.send("POST", ROUTERS, { body: { name: "slow", interfaces } });
  const fast = await startService({ store, taskDurationMs: 1_000, seed: 2 });
  // A request of its own first, so that the later task has the later id, as in one run.
  await fast.send("GET", `/v1/tasks/${first.body.tasks[0]}`);
  const second = await fast.send("POST", ROUTERS, { body: { name: "fast", interfaces } });

  await fast.clock.advance(20_000);

  await fast.send("GET", POOL);
  expect(first.body.tasks[0] < second.body.tasks[0]).toBe(true);
  expect(addressesByName(await fast.stored())).toEqual({ slow: "10.0.0.2", fast: "10.0.0.1" });
});

test("a task is found by its id in any letter case", async () => {
  const { send } = await startService();
  const id = "d478ae29-dedc-4869-82f0-96104425f565";

  const found = await send("GET", `/v1/tasks/${id.toUpperCase()}`);

  expect([found.status, found.body.id]).toEqual([200, id]);
});
