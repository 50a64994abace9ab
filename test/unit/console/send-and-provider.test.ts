import { expect, test } from "vitest";
import { createForms } from "../../../lib/admin/forms.ts";
import { createLocalAdmin } from "../../../lib/local/local-admin.ts";
import { updatePolicy } from "../../support/requests.ts";
import { useLocalConsole } from "./use-local-console.ts";

/** The task of the built-in state. */
const TASK = "d478ae29-dedc-4869-82f0-96104425f565";

const run = useLocalConsole();

const ask = async (path: string, init: RequestInit = {}) => {
  const headers = { ...run.gateway.headers, "content-type": "application/json" };
  const response = await fetch(`${run.gateway.url}${path}`, { ...init, headers });
  return { status: response.status, body: await response.json() };
};

const check = (detail: unknown) =>
  ask("/commands/check", { method: "POST", body: JSON.stringify(detail) });

test("the forms of all operations are one answer", async () => {
  expect(await ask("/operations")).toEqual({ status: 200, body: createForms() });
});

test("a request is checked without being sent", async () => {
  run.automation.start();

  const good = await check(updatePolicy("p1"));
  const bad = await check(updatePolicy("p2", { status: "stopped" }));

  expect(good).toEqual({ status: 200, body: { problems: [] } });
  const problems = [{ path: "body.status", rule: "one of active, paused" }];
  expect(bad).toEqual({ status: 200, body: { problems } });
  expect((await ask("/commands")).body).toEqual({ rows: [] });
});

test("text that is no JSON has problems like any other", async () => {
  const answer = await ask("/commands/check", { method: "POST", body: "{" });

  expect(answer).toMatchObject({ status: 200, body: { problems: [{ path: "operation" }, {}] } });
});

test("a task is read at the provider", async () => {
  expect(await ask(`/tasks/local/${TASK}`)).toEqual({
    status: 200,
    body: {
      kind: "read",
      state: "FINISHED",
      taskType: "create_router",
      createdAt: "2025-11-03T08:15:00.000Z",
      updatedAt: "2025-11-03T08:15:08.000Z",
      finishedAt: "2025-11-03T08:15:08.000Z",
      createdResources: { routers: ["da5b9588-cecc-4111-a318-3ad04da05900"] },
    },
  });
  expect(await ask(`/tasks/other/${TASK}`)).toEqual({
    status: 404,
    body: { error: "no such account" },
  });
});

test("state, tasks and requests of the embedded service are read", async () => {
  await ask(`/tasks/local/${TASK}`);

  const { body: state } = await ask("/provider");
  const { body: records } = await ask("/provider/records/instances?offset=2");
  const { body: tasks } = await ask("/provider/tasks");
  const { body: requests } = await ask("/provider/requests");

  const kinds = expect.arrayContaining([{ kind: "instances", count: 3 }]);
  expect(state).toEqual({ baseUrl: run.automation.provider.baseUrl, kinds });
  expect(records).toMatchObject({ kind: "instances", count: 3, rows: [{ vm_state: "suspended" }] });
  expect(tasks).toMatchObject({ count: 1, tasks: [{ id: TASK, progress: 100 }] });
  expect(requests).toMatchObject([{ operation: "get-task", status: 200 }]);
  expect((await ask("/provider/records/instances?offset=-1")).status).toBe(400);
  expect(await ask("/provider/records/nothing")).toEqual({
    status: 404,
    body: { error: "no such kind of record" },
  });
});

test("a remote provider has no view", () => {
  const { view: _, ...provider } = run.automation.provider;
  const remote = { ...run.automation, provider };

  expect(createLocalAdmin(remote).provider).toBeUndefined();
});
