import { expect, test } from "vitest";
import { openTarget, place, refusedFields, uniqueName } from "./target.ts";

const { call, one, own, elsewhere } = await openTarget();
const policy = one("lifecycle_policies");
const POLICY = `/cloud/v1/lifecycle_policy/${place(policy)}/${policy.id}`;

const read = async () => (await call("GET", `${POLICY}?need_volumes=true`)).body;

test("a policy is paused and activated, and nothing else about it changes", async () => {
  const before = await read();

  const paused = await call("PATCH", POLICY, { body: { status: "paused" } });
  const whilePaused = await read();
  const active = await call("PATCH", POLICY, { body: { status: "active" } });

  expect([paused.status, active.status]).toEqual([200, 200]);
  expect(paused.body.status).toBe("paused");
  expect(whilePaused).toEqual({ ...before, status: "paused" });
  expect(active.body.status).toBe("active");
  expect(await read()).toEqual({ ...before, status: "active" });
});

test("a policy is renamed, and nothing else about it changes", async () => {
  const before = await read();
  const name = uniqueName("policy");

  const renamed = await call("PATCH", POLICY, { body: { name } });

  expect(renamed).toMatchObject({ status: 200, body: { name } });
  expect(await read()).toEqual({ ...before, name });
});

test("name and status change together", async () => {
  const before = await read();
  const change = {
    name: uniqueName("both"),
    status: before.status === "active" ? "paused" : "active",
  };

  const answer = await call("PATCH", POLICY, { body: change });

  expect(answer.body).toMatchObject(change);
  expect(await read()).toEqual({ ...before, ...change });
});

test("an empty update returns the unchanged policy with every documented field", async () => {
  const { volumes, ...before } = await read();

  const answer = await call("PATCH", POLICY, { body: {} });

  expect(volumes).toBeInstanceOf(Array);
  expect(answer.body).toEqual(before);
  const { action, project_id, region_id, user_id, schedules, id } = policy;
  expect(answer.body).toMatchObject({ id, action, project_id, region_id, user_id, schedules });
});

test("schedules of both types are returned unchanged", async () => {
  const answers = await Promise.all(
    own("lifecycle_policies").map(async (known) => {
      const path = `/cloud/v1/lifecycle_policy/${place(known)}/${known.id}`;
      return (await call("PATCH", path, { body: {} })).body.schedules;
    }),
  );

  expect(answers).toEqual(own("lifecycle_policies").map(({ schedules }) => schedules));
  const types = new Set(answers.flat().map(({ type }: { type: string }) => type));
  expect([...types].sort()).toEqual(["cron", "interval"]);
});

test("the response contains the volumes only with need_volumes", async () => {
  const silent = await call("PATCH", POLICY, { body: {} });
  const asked = await call("PATCH", `${POLICY}?need_volumes=true`, { body: {} });

  expect(silent.body).not.toHaveProperty("volumes");
  expect(asked.body).toEqual(await read());
});

test.each([
  ["3 characters", "p_1"],
  ["4 characters", "p_12"],
  ["62 characters", "p".repeat(62)],
  ["63 characters", "p".repeat(63)],
  ["spaces, dots and hyphens within", "1 a.b-c_"],
])("a name of %s is accepted", async (_, name) => {
  const answer = await call("PATCH", POLICY, { body: { name } });

  expect(answer).toMatchObject({ status: 200, body: { name } });
});

test.each([
  ["name", { name: "" }],
  ["name", { name: "ab" }],
  ["name", { name: "p".repeat(64) }],
  ["name", { name: " abc" }],
  ["name", { name: "_abc" }],
  ["name", { name: "abc-" }],
  ["name", { name: "abc " }],
  ["name", { name: "a/c" }],
  ["name", { name: "äöü" }],
  ["name", { name: 123 }],
  ["status", { status: "deleted" }],
  ["status", { status: "ACTIVE" }],
  ["status", { name: "fine", status: 1 }],
  ["action", { action: "volume_snapshot" }],
  ["schedules", { schedules: [] }],
  ["body", undefined],
])("an update that breaks a rule of %s is refused and changes nothing: %o", async (field, body) => {
  const before = await read();

  const refused = await call("PATCH", POLICY, { body });

  expect(refusedFields(refused)).toEqual([field]);
  expect(await read()).toEqual(before);
});

test.each([
  ...elsewhere(policy).map(([name, where]) => [name, POLICY.replace(place(policy), where)]),
  ["an unknown id", `/cloud/v1/lifecycle_policy/${place(policy)}/987654321`],
])("the policy returns 404 by %s", async (_, path) => {
  const answer = await call("PATCH", path, { body: { status: "paused" } });

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});
