import { expect, test } from "vitest";
import { getTask, listTasks } from "../../../lib/contract/tasks.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

test.each([
  { id: "t", state: "RUNNING" },
  { id: "t", state: "PAUSED_BY_MOON_PHASE" },
  { id: "t", state: "ERROR", error: "no capacity", created_resources: null },
  { id: "t", state: "FINISHED", error: null, created_on: "2026-05-23T05:07:31" },
  { id: "t", state: "FINISHED", created_resources: { routers: ["r"], projects: [5], new: null } },
])("the task record %j parses unchanged", (task) => {
  expect(received(getTask.response, JSON.stringify(task))).toEqual(task);
});

test.each([
  [{}, ["id: required", "state: required"]],
  [{ id: "t", state: null }, ["state: a string, not null"]],
])("the task record %j breaks the contract", (task, problems) => {
  expect(received(getTask.response, JSON.stringify(task))).toEqual(problems);
});

test.each([
  { created_resources: { routers: "r" } },
  { created_resources: { routers: [true] } },
  { created_resources: "r" },
  { created_on: 5 },
  { task_type: null },
  { project_id: "12" },
  { region_id: {} },
])("of a task record, %j is left out", (field) => {
  const task = { id: "t", state: "FINISHED" };

  expect(received(getTask.response, JSON.stringify({ ...task, ...field }))).toEqual(task);
});

test("an error that is false is none", () => {
  const text = '{"id":"t","state":"FINISHED","error":false}';

  expect(received(getTask.response, text)).toMatchObject({ error: null });
});

test("an error that is no text is read as its JSON", () => {
  const text = '{"id":"t","state":"FINISHED","error":{"code":12345678901234567890}}';

  expect(received(getTask.response, text)).toMatchObject({
    error: '{"code":12345678901234567890}',
  });
});

test("a task id may be any text that stays one segment of the path", () => {
  expect(bothWays(getTask.params, { task_id: "a/b?c" })).toEqual(accepted({ task_id: "a/b?c" }));
  expect(bothWays(getTask.params, { task_id: ".." })).toEqual(
    refused("task_id: must not be . or .."),
  );
});

test.each([
  {},
  { limit: 1, offset: 0 },
  { limit: 1000, state: ["NEW", "RUNNING"], project_id: [1, 2], region_id: [] },
  { order_by: "asc", task_type: "create_router", from_timestamp: "2026-01-01T00:00:00.000Z" },
])("the task list accepts %j", (query) => {
  expect(bothWays(listTasks.query, query)).toEqual(accepted(query));
});

test.each([
  [{ limit: 0 }, "limit: at least 1"],
  [{ limit: 1001 }, "limit: at most 1000"],
  [{ offset: -1 }, "offset: at least 0"],
  [{ order_by: "up" }, "order_by: one of asc, desc"],
  [{ state: ["DONE"] }, "state.0: one of NEW, RUNNING, FINISHED, ERROR"],
  [{ state: "NEW" }, "state: a list"],
  [{ from_timestamp: "yesterday" }, "from_timestamp: a time such as 2026-01-31T12:00:00Z"],
  [{ to_timestamp: "2026-01-01" }, "to_timestamp: a time such as 2026-01-31T12:00:00Z"],
  [{ task_id: "t" }, "task_id: unknown field"],
])("the task list refuses %j", (query, problem) => {
  expect(bothWays(listTasks.query, query)).toEqual(refused(problem));
});
