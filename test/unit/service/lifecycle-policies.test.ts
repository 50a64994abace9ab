import { expect, test } from "vitest";
import { POLICY, startService } from "./harness.ts";

const POLICY_RECORD = "lifecycle_policies/1";
const REMOVE = `${POLICY}/remove_volumes_from_policy`;

test("volumes are removed at once, and the response is the policy without its volumes", async () => {
  const { send, stored } = await startService();

  const answer = await send("PUT", REMOVE, {
    body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f"] },
  });

  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ id: 1, name: "schedule_1", status: "active", user_id: 11 });
  expect(answer.body.schedules.map(({ type }: { type: string }) => type)).toEqual([
    "cron",
    "interval",
  ]);
  expect(answer.body).not.toHaveProperty("volumes");
  expect((await stored())[POLICY_RECORD].volumes).toEqual([
    { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df50", volume_name: "my-other-volume" },
  ]);
});

test.each([
  ["no volume", []],
  ["a volume that the policy does not have", ["not-attached"]],
])("removing %s succeeds and changes no volumes", async (_, volume_ids) => {
  const { send, stored } = await startService();

  const answer = await send("PUT", REMOVE, { body: { volume_ids } });

  expect(answer.status).toBe(200);
  expect((await stored())[POLICY_RECORD].volumes).toHaveLength(2);
});

test("removing the same volume twice succeeds twice", async () => {
  const { send, stored } = await startService();
  const body = { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f"] };

  const first = await send("PUT", REMOVE, { body });
  const second = await send("PUT", REMOVE, { body });

  expect([first.status, second.status]).toEqual([200, 200]);
  expect((await stored())[POLICY_RECORD].volumes).toHaveLength(1);
});

test("a policy is renamed and paused in one request and activated in another", async () => {
  const { send, stored } = await startService();

  const paused = await send("PATCH", POLICY, { body: { name: "nightly", status: "paused" } });
  const activated = await send("PATCH", POLICY, { body: { status: "active" } });

  expect(paused.body).toMatchObject({ id: 1, name: "nightly", status: "paused" });
  expect(activated.body).toMatchObject({ id: 1, name: "nightly", status: "active" });
  expect(activated.body).not.toHaveProperty("volumes");
  expect((await stored())[POLICY_RECORD]).toMatchObject({ name: "nightly", status: "active" });
  expect((await stored())[POLICY_RECORD].volumes).toHaveLength(2);
});

test("an empty update returns the unchanged policy", async () => {
  const { send } = await startService();

  const answer = await send("PATCH", POLICY, { body: {} });

  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ name: "schedule_1", status: "active" });
});

test.each(["abc", `${"a".repeat(62)}b`])("the name %s is accepted", async (name) => {
  const { send } = await startService();

  const answer = await send("PATCH", POLICY, { body: { name } });

  expect(answer.body).toMatchObject({ name });
});

test.each([
  ["PATCH", POLICY, { name: "ab" }, "name"],
  ["PATCH", POLICY, { name: "a".repeat(64) }, "name"],
  ["PATCH", POLICY, { name: " abc" }, "name"],
  ["PATCH", POLICY, { status: "deleted" }, "status"],
  ["PATCH", POLICY, { name: null }, "name"],
  ["PUT", REMOVE, {}, "volume_ids"],
  ["PUT", REMOVE, { volume_ids: [7] }, "volume_ids.0"],
])(
  "%s %s with %j is refused with the field and changes nothing",
  async (method, path, body, field) => {
    const { send, stored } = await startService();
    const before = await stored();

    const refused = await send(method, path, { body });

    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    expect(await stored()).toEqual(before);
  },
);

test.each([
  ["an unknown id", "/cloud/v1/lifecycle_policy/1234567/76/999", 404],
  ["another region", "/cloud/v1/lifecycle_policy/1234567/148/1", 404],
  ["a foreign project", "/cloud/v1/lifecycle_policy/1337/76/1", 404],
  ["an id that is no integer", "/cloud/v1/lifecycle_policy/1234567/76/first", 400],
  ["a padded integer", "/cloud/v1/lifecycle_policy/1234567/76/01", 400],
])("%s is refused by all three operations", async (_, path, status) => {
  const { send } = await startService();

  const updated = await send("PATCH", path, { body: {} });
  const removed = await send("PUT", `${path}/remove_volumes_from_policy`, {
    body: { volume_ids: [] },
  });
  const read = await send("GET", path);

  expect([updated.status, removed.status, read.status]).toEqual([status, status, status]);
});

test("reading a policy returns all documented fields, the volumes only on request", async () => {
  const { send } = await startService();

  const without = await send("GET", POLICY);
  const declined = await send("GET", `${POLICY}?need_volumes=false`);
  const asked = await send("GET", `${POLICY}?need_volumes=true`);

  expect(without.status).toBe(200);
  expect(Object.keys(without.body).sort()).toEqual([
    "action",
    "id",
    "name",
    "project_id",
    "region_id",
    "schedules",
    "status",
    "user_id",
  ]);
  expect(declined.body).toEqual(without.body);
  expect(asked.body).toEqual({
    ...without.body,
    volumes: [
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", volume_name: "my-volume" },
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df50", volume_name: "my-other-volume" },
    ],
  });
});

test("an update and a removal return the resulting volumes on request", async () => {
  const { send } = await startService();
  const ask = "?need_volumes=true";

  const updated = await send("PATCH", `${POLICY}${ask}`, { body: { status: "paused" } });
  const removed = await send("PUT", `${REMOVE}${ask}`, {
    body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", "not-attached"] },
  });
  const emptied = await send("PUT", `${REMOVE}${ask}`, {
    body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df50"] },
  });
  const read = await send("GET", `${POLICY}${ask}`);

  expect(updated.body).toMatchObject({ status: "paused" });
  expect(updated.body.volumes).toHaveLength(2);
  expect(removed.body).toMatchObject({ status: "paused" });
  expect(removed.body.volumes).toEqual([
    { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df50", volume_name: "my-other-volume" },
  ]);
  expect(emptied.body.volumes).toEqual([]);
  expect(read.body).toEqual(emptied.body);
});

test("a need_volumes other than true or false is refused and changes nothing", async () => {
  const { send, stored } = await startService();
  const before = await stored();

  const answers = [
    await send("GET", `${POLICY}?need_volumes=1`),
    await send("PATCH", `${POLICY}?need_volumes=yes`, { body: { name: "nightly" } }),
    await send("PUT", `${REMOVE}?need_volumes=`, { body: { volume_ids: [] } }),
  ];

  for (const { status, body } of answers) {
    expect(status).toBe(400);
    expect(body.invalid_fields).toEqual({ need_volumes: ["true or false"] });
  }
  expect(await stored()).toEqual(before);
});

test("volumes are found by their ids in any letter case", async () => {
  const { send } = await startService();
  const before = (await send("GET", `${POLICY}?need_volumes=true`)).body.volumes;
  const volume_ids = [before[0].volume_id.toUpperCase()];

  const removed = await send("PUT", `${POLICY}/remove_volumes_from_policy?need_volumes=true`, {
    body: { volume_ids },
  });

  expect(removed.body.volumes).toEqual(before.slice(1));
});
