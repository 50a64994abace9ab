import { expect, test } from "vitest";
import { CONTAINER, ROUTERS, startService } from "./harness.ts";

const BUILT_IN_TASK = "d478ae29-dedc-4869-82f0-96104425f565";

/** Three routers a second apart, then one container update; the built-in task is older. */
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
  ["what nobody has acknowledged", "?is_acknowledged=false", [4, 3, 2, 1]],
  ["what somebody has acknowledged", "?is_acknowledged=true", [0]],
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
])("the list of tasks gives %s", async (_, query, expected) => {
  const { list, clock } = await startWithTasks();
  await clock.advance(0);

  const listed = await list(query);

  expect(listed).toEqual({ count: expected.length, found: expected });
});

test("a page has limit entries from offset on, and count is that of all", async () => {
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

test("a page has ten entries unless the request says otherwise", async () => {
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
])("the query %s is answered %i, naming the field when refused", async (query, status) => {
  const { send } = await startService();

  const answer = await send("GET", `/cloud/v1/tasks?${query}`);

  expect(answer.status).toBe(status);
  const refusedField = Object.keys(answer.body.invalid_fields ?? {}).map(
    (field) => field.split(".")[0],
  );
  expect(refusedField).toEqual(status === 400 ? [query.split("=")[0]] : []);
});

test("a refused value in a list is named by its place, with the rule for one value", async () => {
  const { send } = await startService();

  const answer = await send("GET", "/cloud/v1/tasks?state=DONE");

  expect(Object.keys(answer.body.invalid_fields)).toEqual(["state.0"]);
});
