import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, follow, runTask, one, own } = await openTarget();
const home = one("instances");
const ROUTERS = `/cloud/v1/routers/${place(home)}`;
const TASKS = "/cloud/v1/tasks";
// The task fails, so that it creates no resource.
const impossible = () => ({
  name: uniqueName("never"),
  interfaces: [{ subnet_id: UNKNOWN_ID }],
});

const list = async (query: string): Promise<Answer["body"]> =>
  (await call("GET", `${TASKS}?${query}`)).body;
/** Limits a list to tasks of this run, because a shared service may have any number of older ones. */
const listNew = (query: string) => list(`from_timestamp=${since}&${query}`);
const idsOf = ({ results }: Answer["body"]): string[] =>
  results.map(({ id }: { id: string }) => id);

/** Eleven tasks, one more than a page of the default size. */
const startTasks = async (): Promise<string[]> => {
  const ids: string[] = [];
  while (ids.length < 11) {
    const { body } = await call("POST", ROUTERS, { body: impossible() });
    ids.push(...body.tasks);
  }
  for (const id of ids) await follow(id);
  return ids;
};
const started = await startTasks();
const [first = "", last = ""] = [started[0], started.at(-1)];
const since: string = (await call("GET", `/v1/tasks/${first}`)).body.created_on;

test.each([
  ["the document", "/v1/tasks"],
  ["the published interface", "/cloud/v1/tasks"],
])("a task is readable at the path of %s", async (_, path) => {
  const answer = await call("GET", `${path}/${first}`);

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual((await call("GET", `/v1/tasks/${first}`)).body);
  expect(answer.body).toMatchObject({ id: first, task_type: "create_router" });
});

test("a failed task has the state ERROR, a reason and no created resources", async () => {
  const { body } = await call("GET", `/v1/tasks/${first}`);

  expect(body).toMatchObject({
    id: first,
    state: "ERROR",
    error: expect.stringContaining(UNKNOWN_ID),
    created_resources: null,
    project_id: home.project_id,
    region_id: home.region_id,
    user_id: expect.any(Number),
    data: { name: expect.any(String) },
  });
  expect(Date.parse(body.finished_on)).toBeGreaterThan(Date.parse(body.created_on));
});

test("a successful task has the state FINISHED, no error and its created resources", async () => {
  const task = await runTask("POST", ROUTERS, { name: uniqueName("router") });

  expect(task).toMatchObject({
    state: "FINISHED",
    error: null,
    created_resources: { routers: [expect.any(String)] },
  });
});

test.each([
  UNKNOWN_ID,
  "no-uuid",
  "0",
  "t".repeat(300),
  "%2e%2e%2f",
  "a%2Fb",
  "%F0%9F%98%80",
  "%00",
])("the unknown task %s returns 404 on both paths", async (id) => {
  const answers = [await call("GET", `/v1/tasks/${id}`), await call("GET", `${TASKS}/${id}`)];

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(answers[0]?.body.exception_class).toBe("NotFoundError");
});

test("by default the list has ten tasks, newest first", async () => {
  const byDefault = await list("");
  const newest = await list("limit=11");
  const oldest = await listNew("limit=1000&order_by=asc");

  expect(byDefault.count).toBeGreaterThanOrEqual(11);
  expect(byDefault.results).toHaveLength(10);
  expect(idsOf(byDefault)).toEqual(idsOf(newest).slice(0, 10));
  const created = oldest.results.map(({ created_on }: { created_on: string }) => created_on);
  expect(created).toEqual([...created].sort());
  const positions = started.map((id) => idsOf(oldest).indexOf(id));
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(positions).not.toContain(-1);
});

test("limit and offset select a page, and count covers all pages", async () => {
  const all = await listNew("order_by=asc&limit=1000");
  const pages = [
    await listNew("order_by=asc&limit=3"),
    await listNew("order_by=asc&limit=3&offset=3"),
    await listNew(`order_by=asc&offset=${all.count}`),
  ];

  expect(pages.flatMap(idsOf)).toEqual(idsOf(all).slice(0, 6));
  expect(pages.map(({ count }) => count)).toEqual([all.count, all.count, all.count]);
});

type Task = Record<string, unknown>;
const otherProject = own("instances").find(({ project_id }) => project_id !== home.project_id);
const here = `project_id=${home.project_id}`;

test.each([
  ["one state", "state=ERROR", ({ state }: Task) => state === "ERROR"],
  [
    "several states",
    "state=ERROR&state=RUNNING",
    ({ state }: Task) => state === "ERROR" || state === "RUNNING",
  ],
  ["a project", here, ({ project_id }: Task) => project_id === home.project_id],
  [
    "several projects",
    `${here}&project_id=${otherProject?.project_id}`,
    ({ project_id }: Task) => project_id !== undefined,
  ],
  ["a region", `region_id=${home.region_id}`, (task: Task) => task.region_id === home.region_id],
  ["a type", "task_type=create_router", (task: Task) => task.task_type === "create_router"],
])("the list is filtered by %s", async (_, query, fits) => {
  const all: Task[] = (await listNew("limit=1000")).results;

  const found = await listNew(`limit=1000&${query}`);

  expect(found.results).toEqual(all.filter(fits));
  expect(idsOf(found)).toEqual(expect.arrayContaining(started));
  expect(found.count).toBe(found.results.length);
});

test.each([
  "state=NEW&state=RUNNING",
  "task_type=create_vm",
  "project_id=999999999",
  "region_id=999999999",
])("the filter %s excludes tasks that do not match", async (query) => {
  expect(idsOf(await list(`limit=1000&${query}`))).not.toContain(last);
});

test("the list is filtered by the time of creation, including both ends", async () => {
  const { created_on } = (await call("GET", `/v1/tasks/${last}`)).body;
  const later = new Date(Date.parse(created_on) + 1).toISOString();

  expect(idsOf(await list(`limit=1000&from_timestamp=${created_on}`))).toContain(last);
  expect(idsOf(await list(`limit=1000&from_timestamp=${later}`))).not.toContain(last);
  expect(idsOf(await list(`limit=1000&to_timestamp=${created_on}`))).toContain(last);
  expect(idsOf(await list("limit=1000&to_timestamp=2001-01-01T00:00:00Z"))).toEqual([]);
});

test.each([
  ["limit", "limit=0"],
  ["limit", "limit=1001"],
  ["limit", "limit=ten"],
  ["offset", "offset=-1"],
  ["order_by", "order_by=newest"],
  ["state.0", "state=DONE"],
  ["project_id.0", "project_id=x"],
  ["from_timestamp", "from_timestamp=yesterday"],
  ["task_id", `task_id=${UNKNOWN_ID}`],
])("a list query that breaks a rule of %s is refused: %s", async (field, query) => {
  expect(refusedFields(await call("GET", `${TASKS}?${query}`))).toEqual([field]);
});
