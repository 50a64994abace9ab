import { expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { RouterRecord } from "../../../lib/service/state/routers.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { CONTAINER, POOL, ROUTERS, startService } from "./harness.ts";

const BUILT_IN_TASK = "d478ae29-dedc-4869-82f0-96104425f565";
const asSecondClient = { headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` } };

test("a task becomes RUNNING and FINISHED exactly at the planned instants", async () => {
  const { send, clock } = await startService({ taskDurationMs: 10_000 });
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });
  const read = async () => (await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`)).body;

  const atOnce = await read();
  await clock.advance(1_999);
  const queued = await read();
  await clock.advance(1);
  const started = await read();
  await clock.advance(7_999);
  const running = await read();
  await clock.advance(1);
  const finished = await read();
  await clock.advance(86_400_000);
  const later = await read();

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

test("the end of a task is its planned instant, not the time of the read", async () => {
  const { send, clock } = await startService();
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

  await clock.advance(3_600_000);

  const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
  expect(task.body).toMatchObject({ state: "FINISHED", finished_on: "2026-01-01T00:00:10.000Z" });
});

test("the duration of tasks is taskDurationMs", async () => {
  const { send, clock } = await startService({ taskDurationMs: 50 });
  const accepted = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

  await clock.advance(50);

  const task = await send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);
  expect(task.body.state).toBe("FINISHED");
});

test("both task paths return the same", async () => {
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
])("the unknown task id %s returns 404", async (id) => {
  const { send } = await startService();

  const answer = await send("GET", `/v1/tasks/${id}`);

  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject({ exception_class: "NotFoundError" });
});

test("a task of another client returns 404 and is not listed", async () => {
  const { send } = await startService();

  const read = await send("GET", `/v1/tasks/${BUILT_IN_TASK}`, asSecondClient);
  const list = await send("GET", "/cloud/v1/tasks", asSecondClient);

  expect(read.status).toBe(404);
  expect(list.body).toEqual({ count: 0, results: [] });
});

test("a task is visible only to its client, even if another client's key has access to the project", async () => {
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

/** Routers in the order of creation: an earlier one has a lower address in their common subnet. */
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

test("a task does its work only once", async () => {
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

test("a task that is due earlier ends earlier, even if it was created later", async () => {
  const store = createMemoryStore();
  const interfaces = [{ subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }];
  const slow = await startService({ store, taskDurationMs: 10_000 });
  const first = await slow.send("POST", ROUTERS, { body: { name: "slow", interfaces } });
  const fast = await startService({ store, taskDurationMs: 1_000, seed: 2 });
  // One request first, so that the later task has the higher id, as in a single run.
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

test("of more ended tasks than are kept, those that ended first are removed", async () => {
  const { send, clock, stored } = await startService({ keptTasks: 2 });
  const ids: string[] = [];
  for (let made = 0; made < 4; made += 1) {
    ids.push((await send("POST", ROUTERS, { body: { name: "edge" } })).body.tasks[0]);
    await clock.advance(1_000);
  }
  await clock.advance(8_000);

  const list = await send("GET", "/cloud/v1/tasks?state=FINISHED");
  const removed = await send("GET", `/v1/tasks/${BUILT_IN_TASK}`);

  expect(list.body.results.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
  expect(removed.status).toBe(404);
  expect(Object.keys(await stored()).filter((key) => key.startsWith("tasks/"))).toEqual(
    ids.slice(1).map((id) => `tasks/${id}`),
  );
});

test("a state with more ended tasks than are kept shrinks by one for each that ends", async () => {
  const { send, clock } = await startService({
    keptTasks: 1,
    state: (builtIn) => ({
      ...builtIn,
      tasks: [1, 2, 3, 4].flatMap((n) =>
        builtIn.tasks.map((task) => ({
          ...task,
          id: `old-${n}`,
          finished_on: `2025-11-0${n}T09:00:00Z`,
        })),
      ),
    }),
  });
  const idsNow = async () => {
    const { body } = await send("GET", "/cloud/v1/tasks?task_type=create_router&order_by=asc");
    return body.results.map(({ id }: { id: string }) => id);
  };
  const atStart = await idsNow();
  await send("PATCH", CONTAINER, { body: { timeout: 1 } });
  await clock.advance(10_000);

  expect(atStart).toEqual(["old-1", "old-2", "old-3", "old-4"]);
  expect(await idsNow()).toEqual(["old-3", "old-4"]);
});

/** Creates three routers, one per second, then updates a container. The built-in task is older. */
const startWithTasks = async () => {
  const started = await startService({
    state: (builtIn) => ({
      ...builtIn,
      tasks: builtIn.tasks.map((task) => ({
        ...task,
        acknowledged_at: "2025-11-03T09:00:00.000Z",
        acknowledged_by: 11,
      })),
    }),
  });
  const ids: string[] = [BUILT_IN_TASK];
  for (const project of [ROUTERS, "/cloud/v1/routers/1186668/148", ROUTERS]) {
    const accepted = await started.send("POST", project, { body: { name: "edge" } });
    ids.push(accepted.body.tasks[0]);
    await started.clock.advance(1_000);
  }
  const updated = await started.send("PATCH", CONTAINER, { body: { timeout: 1 } });
  ids.push(updated.body.tasks[0]);
  const list = async (query: string): Promise<{ count: number; found: number[] }> => {
    const { body } = await started.send("GET", `/cloud/v1/tasks${query}`);
    return {
      count: body.count,
      found: body.results.map(({ id }: { id: string }) => ids.indexOf(id)),
    };
  };
  return { ...started, list };
};

test.each([
  ["the newest first", "", [4, 3, 2, 1, 0]],
  ["the oldest first on request", "?order_by=asc", [0, 1, 2, 3, 4]],
  ["the oldest first by the older name of the order", "?sorting=asc", [0, 1, 2, 3, 4]],
  [
    "the order by its newer name where both are given",
    "?sorting=asc&order_by=desc",
    [4, 3, 2, 1, 0],
  ],
  ["tasks not acknowledged", "?is_acknowledged=false", [4, 3, 2, 1]],
  ["acknowledged tasks", "?is_acknowledged=true", [0]],
  ["one state", "?state=RUNNING", [2, 1]],
  ["several states", "?state=NEW&state=RUNNING", [4, 3, 2, 1]],
  ["one project", "?project_id=1186668", [2]],
  ["several projects", "?project_id=1186668&project_id=1234567", [4, 3, 2, 1, 0]],
  ["one region", "?region_id=148", [2]],
  ["a task type", "?task_type=patch_caas_container", [4]],
  ["what was created at or after", "?from_timestamp=2026-01-01T00:00:01.000Z", [4, 3, 2]],
  [
    "what was created after a time in another zone",
    "?from_timestamp=2026-01-01T02:00:01%2B02:00",
    [4, 3, 2],
  ],
  [
    "what was created after a time without a zone, in UTC",
    "?from_timestamp=2026-01-01T00:00:01",
    [4, 3, 2],
  ],
  ["what was created at or before", "?to_timestamp=2026-01-01T00:00:01Z", [2, 1, 0]],
  ["several filters at once", "?state=NEW&project_id=1234567&order_by=asc", [3, 4]],
])("the list of tasks has %s", async (_, query, expected) => {
  const { list, clock } = await startWithTasks();
  await clock.advance(0);

  const listed = await list(query);

  expect(listed).toEqual({ count: expected.length, found: expected });
});

test("a page has limit entries from offset on, and count covers all pages", async () => {
  const { list } = await startWithTasks();

  const pages = [
    await list("?limit=2"),
    await list("?limit=2&offset=2"),
    await list("?limit=2&offset=4"),
    await list("?offset=5"),
  ];

  expect(pages).toEqual([
    { count: 5, found: [4, 3] },
    { count: 5, found: [2, 1] },
    { count: 5, found: [0] },
    { count: 5, found: [] },
  ]);
});

test("a page has ten entries by default", async () => {
  const { send } = await startService();
  for (let made = 0; made < 10; made += 1) await send("POST", ROUTERS, { body: { name: "edge" } });

  const list = await send("GET", "/cloud/v1/tasks");

  expect(list.body.count).toBe(11);
  expect(list.body.results).toHaveLength(10);
});

test.each([
  ["limit=1", 200],
  ["limit=1000", 200],
  ["limit=0", 400],
  ["limit=1001", 400],
  ["limit=ten", 400],
  ["limit=1&limit=2", 400],
  ["offset=0", 200],
  ["offset=-1", 400],
  ["order_by=up", 400],
  ["sorting=up", 400],
  ["is_acknowledged=maybe", 400],
  ["state=DONE", 400],
  ["project_id=x", 400],
  ["from_timestamp=yesterday", 400],
  ["colour=red", 400],
])("the query %s gets %i, with the field if refused", async (query, status) => {
  const { send } = await startService();

  const answer = await send("GET", `/cloud/v1/tasks?${query}`);

  expect(answer.status).toBe(status);
  const refusedField = Object.keys(answer.body.invalid_fields ?? {}).map(
    (field) => field.split(".")[0],
  );
  expect(refusedField).toEqual(status === 400 ? [query.split("=")[0]] : []);
});

test("the error of a value in a list has its index and the rule of one value", async () => {
  const { send } = await startService();

  const answer = await send("GET", "/cloud/v1/tasks?state=DONE");

  expect(Object.keys(answer.body.invalid_fields)).toEqual(["state.0"]);
});
