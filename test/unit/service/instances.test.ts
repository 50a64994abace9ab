import { expect, test } from "vitest";
import { stateSchema } from "../../../lib/service/state/state.ts";
import { ACTIVE, SUSPENDED, startService } from "./harness.ts";

const SUSPENDED_RECORD = "instances/6c6aa80f-7836-4dc2-a2ae-125e248be476";

test("a suspended instance is active in the response to resume and in later reads", async () => {
  const { send } = await startService();

  const resumed = await send("POST", `${SUSPENDED}/resume`);

  expect(resumed.status).toBe(200);
  expect(resumed.body).toMatchObject({
    count: 1,
    results: [
      {
        id: "6c6aa80f-7836-4dc2-a2ae-125e248be476",
        name: "my-instance",
        status: "ACTIVE",
        vm_state: "active",
        task_id: null,
        ddos_profile: null,
      },
    ],
  });
  const read = await send("GET", SUSPENDED);
  expect(read.body).toEqual(resumed.body.results[0]);
});

test("reading an instance returns all 22 documented fields", async () => {
  const { send } = await startService();

  const read = await send("GET", SUSPENDED);

  expect(read.status).toBe(200);
  expect(Object.keys(read.body).sort()).toEqual([
    "addresses",
    "blackhole_ports",
    "created_at",
    "creator_task_id",
    "ddos_profile",
    "fixed_ip_assignments",
    "flavor",
    "id",
    "instance_description",
    "instance_isolation",
    "name",
    "project_id",
    "region",
    "region_id",
    "security_groups",
    "ssh_key_name",
    "status",
    "tags",
    "task_id",
    "task_state",
    "vm_state",
    "volumes",
  ]);
});

test("only a suspended instance can be resumed", async () => {
  const { send } = await startService();

  const refused = await send("POST", `${ACTIVE}/resume`);

  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({
    exception_class: "ValidationError",
    message: "status: must be SUSPENDED to resume, is ACTIVE",
    invalid_fields: { status: ["must be SUSPENDED to resume, is ACTIVE"] },
  });
});

test("a second resume is refused, because the instance is active already", async () => {
  const { send } = await startService();
  await send("POST", `${SUSPENDED}/resume`);

  const second = await send("POST", `${SUSPENDED}/resume`);

  expect(second.status).toBe(400);
});

test("a locked instance returns 409 in every state and stays unchanged", async () => {
  const { send, stored } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      instances: builtIn.instances.map((instance) => ({ ...instance, task_id: "some-task" })),
    }),
  });

  const suspended = await send("POST", `${SUSPENDED}/resume`);
  const active = await send("POST", `${ACTIVE}/resume`);

  expect([suspended.status, active.status]).toEqual([409, 409]);
  expect(suspended.body).toMatchObject({
    exception_class: "ConflictError",
    message: "task some-task locks the instance; retry when the task has ended",
  });
  expect((await stored())[SUSPENDED_RECORD]).toMatchObject({ status: "SUSPENDED" });
});

test.each([
  ["an unknown id", "/cloud/v1/instances/1234567/76/6c6aa80f-7836-4dc2-a2ae-000000000000"],
  ["another region", "/cloud/v1/instances/1234567/148/6c6aa80f-7836-4dc2-a2ae-125e248be476"],
  ["another project", "/cloud/v1/instances/1186668/76/6c6aa80f-7836-4dc2-a2ae-125e248be476"],
  ["a foreign project", "/cloud/v1/instances/1337/76/6c6aa80f-7836-4dc2-a2ae-125e248be476"],
])("resuming and reading by %s returns 404", async (_, path) => {
  const { send } = await startService();

  const resumed = await send("POST", `${path}/resume`);
  const read = await send("GET", path);

  expect([resumed.status, read.status]).toEqual([404, 404]);
  expect(read.body).toMatchObject({
    exception_class: "NotFoundError",
    message: "instance not found",
  });
});

test("resume takes no body, or an empty object", async () => {
  const { send } = await startService();

  const resumed = await send("POST", `${SUSPENDED}/resume`, { body: {} });

  expect([resumed.status, resumed.body.results[0].status]).toEqual([200, "ACTIVE"]);
});

test.each([[[]], [{ force: true }], [null], ["{}"]])("resume refuses the body %j", async (body) => {
  const { send, stored } = await startService();

  const refused = await send("POST", `${SUSPENDED}/resume`, { body });

  expect(refused.status).toBe(400);
  expect(refused.body.invalid_fields).toEqual({ body: ["this operation takes no body"] });
  expect((await stored())[SUSPENDED_RECORD]).toMatchObject({ status: "SUSPENDED" });
});

test("a read returns the DDoS profile only on request", async () => {
  const { send } = await startService();

  const asked = await send("GET", `${SUSPENDED}?with_ddos=true`);
  const declined = await send("GET", `${SUSPENDED}?with_ddos=false`);
  const silent = await send("GET", SUSPENDED);

  expect(asked.body.ddos_profile).toMatchObject({
    id: 1,
    site: "GNC",
    fields: [{ name: "ARK server ports", base_field: 11, value: "7777", field_value: null }],
    profile_template: { id: 63, name: "ark_default" },
  });
  expect([declined.body.ddos_profile, silent.body.ddos_profile]).toEqual([null, null]);
  expect({ ...asked.body, ddos_profile: null }).toEqual(silent.body);
});

test("resume returns the DDoS profile only on request, and keeps it in both cases", async () => {
  const { send, stored } = await startService();
  const before = (await stored())[SUSPENDED_RECORD].ddos_profile;
  const resumed = await send("POST", `${SUSPENDED}/resume`);
  const again = await startService();

  const asked = await again.send("POST", `${SUSPENDED}/resume?with_ddos=true`);

  expect(resumed.body.results[0].ddos_profile).toBeNull();
  expect((await stored())[SUSPENDED_RECORD].ddos_profile).toEqual(before);
  expect(asked.body.results[0]).toMatchObject({ status: "ACTIVE", ddos_profile: before });
});

test("an instance without DDoS protection has no profile", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      instances: builtIn.instances.map((instance) => ({ ...instance, ddos_profile: null })),
    }),
  });

  expect((await send("GET", `${SUSPENDED}?with_ddos=true`)).body.ddos_profile).toBeNull();
});

test.each(["with_ddos=yes", "with_ddos=1", "with_ddos=", "with_ddos=true&with_ddos=true"])(
  "the query %s is refused, and the instance stays suspended",
  async (query) => {
    const { send, stored } = await startService();

    const read = await send("GET", `${SUSPENDED}?${query}`);
    const resumed = await send("POST", `${SUSPENDED}/resume?${query}`);

    expect([read.status, resumed.status]).toEqual([400, 400]);
    expect(read.body.invalid_fields).toEqual({ with_ddos: ["true or false"] });
    expect((await stored())[SUSPENDED_RECORD]).toMatchObject({ status: "SUSPENDED" });
  },
);

test("an instance is found by its id in any letter case, even if the seed has it in upper case", async () => {
  const id = SUSPENDED.slice(SUSPENDED.lastIndexOf("/") + 1);
  const { send } = await startService({
    state: (builtIn) =>
      stateSchema.parse({
        ...builtIn,
        instances: builtIn.instances.map((one) => ({ ...one, id: one.id.toUpperCase() })),
      }),
  });

  const read = await send("GET", SUSPENDED.replace(id, id.toUpperCase()));
  const resumed = await send("POST", `${SUSPENDED}/resume`);

  expect([read.status, read.body.id]).toEqual([200, id]);
  expect(resumed.status).toBe(200);
});

test("a bare metal flavor may describe its hardware with other keys", async () => {
  const hardware_description = {
    cpu: "2x",
    ram: "256GiB",
    disk: "2x480 GB",
    network: "2x10 Gbit/s",
  };
  const { send } = await startService({
    state: (builtIn) =>
      stateSchema.parse({
        ...builtIn,
        instances: builtIn.instances.map((one) => ({
          ...one,
          flavor: { ...one.flavor, hardware_description, resource_class: "bm2-hf-medium" },
        })),
      }),
  });

  expect((await send("GET", SUSPENDED)).body.flavor).toMatchObject({ hardware_description });
});
