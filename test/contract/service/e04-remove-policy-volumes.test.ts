import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields, UNKNOWN_ID } from "./target.ts";

const { call, one, elsewhere } = await openTarget();
const policy = one("lifecycle_policies", ({ volumes }) => volumes.length > 0);
const POLICY = `/cloud/v1/lifecycle_policy/${place(policy)}/${policy.id}`;
const REMOVE = `${POLICY}/remove_volumes_from_policy`;
const knownIds = policy.volumes.map(({ volume_id }) => volume_id);

const readVolumes = async (): Promise<Answer["body"]> =>
  (await call("GET", `${POLICY}?need_volumes=true`)).body.volumes;

// No operation adds a volume, so on a shared service each can be removed only once.
const [first] = await readVolumes();
if (first === undefined) {
  test("without volumes in the policy, removing its former volumes changes nothing", async () => {
    const answer = await call("PUT", `${REMOVE}?need_volumes=true`, {
      body: { volume_ids: knownIds },
    });

    expect(answer).toMatchObject({ status: 200, body: { id: policy.id, volumes: [] } });
  });
} else {
  test("a given volume is removed, and the others stay", async () => {
    const before = await readVolumes();

    const answer = await call("PUT", `${REMOVE}?need_volumes=true`, {
      body: { volume_ids: [first.volume_id] },
    });
    const again = await call("PUT", `${REMOVE}?need_volumes=true`, {
      body: { volume_ids: [first.volume_id] },
    });

    const left = before.filter((volume: typeof first) => volume.volume_id !== first.volume_id);
    expect(left).toHaveLength(before.length - 1);
    expect(answer).toMatchObject({ status: 200, body: { id: policy.id } });
    expect(answer.body.volumes).toEqual(left);
    expect(again.body).toEqual(answer.body);
    expect(await readVolumes()).toEqual(left);
  });
}

test.each([
  ["no volume at all", []],
  ["a volume that the policy does not have", [UNKNOWN_ID]],
])("removing %s returns the unchanged policy", async (_, volume_ids) => {
  const before = (await call("GET", `${POLICY}?need_volumes=true`)).body;

  const answer = await call("PUT", `${REMOVE}?need_volumes=true`, { body: { volume_ids } });

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual(before);
});

test("the response contains the volumes only with need_volumes", async () => {
  const body = { volume_ids: [] };

  const silent = await call("PUT", REMOVE, { body });
  const declined = await call("PUT", `${REMOVE}?need_volumes=false`, { body });

  expect([silent.status, declined.status]).toEqual([200, 200]);
  expect(silent.body).not.toHaveProperty("volumes");
  expect(silent.body).toEqual((await call("GET", POLICY)).body);
  expect(declined.body).toEqual(silent.body);
});

test.each([
  ["volume_ids", {}, ""],
  ["volume_ids", { volume_ids: UNKNOWN_ID }, ""],
  ["volume_ids", { volume_ids: null }, ""],
  ["volume_ids.0", { volume_ids: [7] }, ""],
  ["volumes", { volume_ids: [], volumes: [] }, ""],
  ["body", undefined, ""],
  ["need_volumes", { volume_ids: [] }, "?need_volumes=perhaps"],
])(
  "a request that breaks a rule of %s is refused and removes nothing",
  async (field, body, query) => {
    const before = await readVolumes();

    const refused = await call("PUT", `${REMOVE}${query}`, { body });

    expect(refusedFields(refused)).toEqual([field]);
    expect(await readVolumes()).toEqual(before);
  },
);

test("a policy id other than an integer is refused", async () => {
  const path = REMOVE.replace(`/${policy.id}/`, "/first/");

  const refused = await call("PUT", path, { body: { volume_ids: [] } });

  expect(refusedFields(refused)).toEqual(["policy_id"]);
});

test.each([
  ...elsewhere(policy).map(([name, where]) => [name, REMOVE.replace(place(policy), where)]),
  ["an unknown id", REMOVE.replace(`/${policy.id}/`, "/987654321/")],
])("the policy returns 404 by %s and keeps its volumes", async (_, path) => {
  const before = await readVolumes();

  const answer = await call("PUT", path, { body: { volume_ids: knownIds } });

  expect(answer.status).toBe(404);
  expect(await readVolumes()).toEqual(before);
});
