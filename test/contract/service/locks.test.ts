import { expect, test } from "vitest";
import { openTarget, place, uniqueName } from "./target.ts";

// Long enough that the task does not end between two requests in a row.
const { call, follow, one } = await openTarget(300);
const container = one("containers", ({ task_id }) => task_id === null);
const pool = one("load_balancer_pools", ({ task_id }) => task_id === null);
const CONTAINER = `/cloud/v1/caas/${place(container)}/containers/${encodeURIComponent(container.name)}`;
const POOL = `/cloud/v1/lbpools/${place(pool)}/${pool.id}`;

test.each([
  ["container", CONTAINER, "description"],
  ["pool", POOL, "name"],
])("a task locks its %s until it has ended: other requests get 409", async (_, path, field) => {
  const name = uniqueName("held");
  const before = (await call("GET", path)).body;

  const accepted = await call("PATCH", path, { body: { [field]: name } });
  const [taskId] = accepted.body.tasks;
  const [early, held, second] = await Promise.all([
    call("GET", `/v1/tasks/${taskId}`),
    call("GET", path),
    call("PATCH", path, { body: { [field]: "too early" } }),
  ]);
  const ended = await follow(taskId);
  const free = (await call("GET", path)).body;

  expect(["NEW", "RUNNING"]).toContain(early.body.state);
  expect(early.body).toMatchObject({ finished_on: null, error: null, created_resources: null });
  expect(held.body).toMatchObject({ task_id: taskId, [field]: before[field] });
  expect(second.status).toBe(409);
  expect(second.body.exception_class).toBe("ConflictError");
  expect(ended.state).toBe("FINISHED");
  expect(free).toEqual({ ...before, task_id: null, [field]: name });
});
