import { expect, test } from "vitest";
import { openTarget, place, refusedFields, UNKNOWN_ID } from "./target.ts";

const { call, own, one, elsewhere } = await openTarget();
const pathOf = (instance: { id: string; project_id: number; region_id: number }) =>
  `/cloud/v1/instances/${place(instance)}/${instance.id}`;

// No operation suspends an instance, so on a shared service each can be resumed only once.
const candidates = own("instances").filter(({ task_id }) => task_id === null);
const statuses = await Promise.all(
  candidates.map(async (instance) => (await call("GET", pathOf(instance))).body.status),
);
const suspended = candidates.filter((_, index) => statuses[index] === "SUSPENDED");
const active = one("instances", ({ status }) => status === "ACTIVE");

const resumed = (before: object) => ({ ...before, status: "ACTIVE", vm_state: "active" });

if (suspended[0] !== undefined) {
  const path = pathOf(suspended[0]);

  test("a resume makes a suspended instance ACTIVE at once and returns it as the only result", async () => {
    const before = (await call("GET", path)).body;

    const answer = await call("POST", `${path}/resume`);

    expect(before).toMatchObject({ status: "SUSPENDED", vm_state: "suspended" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ count: 1, results: [resumed(before)] });
    expect(answer.body.results[0].ddos_profile).toBeNull();
    expect((await call("GET", path)).body).toEqual(resumed(before));
  });

  test("a resumed instance cannot be resumed again", async () => {
    const refused = await call("POST", `${path}/resume`);

    expect(refusedFields(refused)).toEqual(["status"]);
  });
} else {
  test.each(candidates)(
    "without a suspended instance, a resume of $name returns 400",
    async (instance) => {
      const refused = await call("POST", `${pathOf(instance)}/resume`);

      expect(refusedFields(refused)).toEqual(["status"]);
    },
  );
}

if (suspended[1] !== undefined) {
  const path = pathOf(suspended[1]);

  test("with_ddos=true shows the profile in the response to a resume", async () => {
    const before = (await call("GET", `${path}?with_ddos=true`)).body;

    const answer = await call("POST", `${path}/resume?with_ddos=true`);

    expect(before.ddos_profile).toEqual(suspended[1]?.ddos_profile);
    expect(before.ddos_profile).not.toBeNull();
    expect(answer.body).toEqual({ count: 1, results: [resumed(before)] });
  });
}

test("an ACTIVE instance cannot be resumed and stays unchanged", async () => {
  const path = pathOf(active);
  const before = (await call("GET", path)).body;

  const refused = await call("POST", `${path}/resume`);

  expect(refusedFields(refused)).toEqual(["status"]);
  expect(refused.body.message).toMatch(/SUSPENDED/);
  expect((await call("GET", path)).body).toEqual(before);
});

test.each([
  ["body", "", { body: { force: true } }],
  ["with_ddos", "?with_ddos=maybe", {}],
  ["force", "?force=true", {}],
])("a resume that breaks a rule of %s is refused", async (field, query, sent) => {
  const refused = await call("POST", `${pathOf(active)}/resume${query}`, sent);

  expect(refusedFields(refused)).toEqual([field]);
});

test.each([
  ...elsewhere(active).map(([name, where]) => [name, pathOf(active).replace(place(active), where)]),
  ["an unknown id", pathOf({ ...active, id: UNKNOWN_ID })],
])("an instance returns 404 by %s", async (_, path) => {
  const answer = await call("POST", `${path}/resume`);

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});
