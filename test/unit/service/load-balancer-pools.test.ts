import { expect, test } from "vitest";
import { poolRecord } from "../../../lib/service/state/load-balancer-pools.ts";
import { POOL, startService } from "./harness.ts";

const MEMBER = {
  address: "192.168.40.33",
  protocol_port: 80,
  subnet_id: "32283b0b-b560-4690-810c-f672cbb2e28d",
};
const MEMBER_ID = "a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9";
const MONITOR = { delay: 10, timeout: 5, max_retries: 2, type: "HTTP", url_path: "/health" };
const CA_SECRET = "2c7d9f10-3e4b-4a5c-8d6e-7f8091a2b3c4";

test("given fields are replaced and omitted ones kept when the task has finished", async () => {
  const { send, runTask } = await startService();

  const task = await runTask("PATCH", POOL, { name: "new_pool_name", timeout_member_data: 0 });

  expect(task).toMatchObject({
    state: "FINISHED",
    task_type: "patch_lbpool",
    created_resources: null,
    data: { pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f", name: "new_pool_name" },
  });
  const pool = await send("GET", POOL);
  expect(pool.body).toMatchObject({
    name: "new_pool_name",
    timeout_member_data: 0,
    timeout_client_data: 50000,
    lb_algorithm: "ROUND_ROBIN",
    task_id: null,
    provisioning_status: "ACTIVE",
  });
  expect(pool.body.members).toHaveLength(1);
});

test("while its task runs, the pool is locked and shows the task id and the old settings", async () => {
  const { send } = await startService();
  const accepted = await send("PATCH", POOL, { body: { name: "new_pool_name" } });

  const pool = await send("GET", POOL);
  const second = await send("PATCH", POOL, { body: { name: "my_pool" } });

  expect(pool.body).toMatchObject({
    name: "my_pool",
    task_id: accepted.body.tasks[0],
    provisioning_status: "PENDING_UPDATE",
  });
  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({ exception_class: "ConflictError" });
});

test("an update that changes nothing returns no tasks and creates none", async () => {
  const { send, stored } = await startService();
  const before = await stored();

  const empty = await send("PATCH", POOL, { body: {} });
  const equal = await send("PATCH", POOL, {
    body: { name: "my_pool", members: [MEMBER], ca_secret_id: null, timeout_client_data: 50000 },
  });

  expect([empty.body, equal.body]).toEqual([{ tasks: [] }, { tasks: [] }]);
  expect(await stored()).toEqual(before);
});

test("health monitor and session persistence are replaced as a whole and cleared by null", async () => {
  const { send, runTask } = await startService();
  await runTask("PATCH", POOL, {
    healthmonitor: MONITOR,
    session_persistence: { type: "APP_COOKIE", cookie_name: "session" },
  });

  await runTask("PATCH", POOL, {
    healthmonitor: { delay: 20, timeout: 6, max_retries: 3 },
    session_persistence: { type: "SOURCE_IP" },
  });
  const replaced = (await send("GET", POOL)).body;
  await runTask("PATCH", POOL, { healthmonitor: null, session_persistence: null });
  const cleared = (await send("GET", POOL)).body;

  expect(replaced.healthmonitor).toMatchObject({
    delay: 20,
    timeout: 6,
    max_retries: 3,
    max_retries_down: 3,
    admin_state_up: true,
    url_path: null,
  });
  expect(replaced.session_persistence).toEqual({ type: "SOURCE_IP" });
  expect(replaced.members[0].operating_status).toBe("ONLINE");
  expect(cleared).toMatchObject({ healthmonitor: null, session_persistence: null });
  expect(cleared.members[0].operating_status).toBe("NO_MONITOR");
});

test("null clears a secret, a timeout and the members", async () => {
  const { send, runTask } = await startService();
  await runTask("PATCH", POOL, { ca_secret_id: CA_SECRET });

  await runTask("PATCH", POOL, {
    ca_secret_id: null,
    timeout_client_data: null,
    members: null,
  });

  expect((await send("GET", POOL)).body).toMatchObject({
    ca_secret_id: null,
    timeout_client_data: null,
    members: [],
  });
});

test.each([
  [
    "a subnet",
    { members: [{ ...MEMBER, subnet_id: "00000000-0000-4000-8000-000000000001" }] },
    "subnet 00000000-0000-4000-8000-000000000001 does not exist",
  ],
  [
    "a subnet of this project",
    { members: [{ ...MEMBER, subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03" }] },
    "subnet 7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03 does not exist",
  ],
  [
    "an instance",
    {
      members: [
        {
          address: "10.0.0.9",
          protocol_port: 80,
          instance_id: "00000000-0000-4000-8000-000000000002",
        },
      ],
    },
    "instance 00000000-0000-4000-8000-000000000002 does not exist",
  ],
])(
  "the task fails and nothing changes when the update refers to %s that does not exist",
  async (_, body, error) => {
    const { send, runTask } = await startService();
    const before = (await send("GET", POOL)).body;

    const task = await runTask("PATCH", POOL, body);

    expect(task).toMatchObject({ state: "ERROR", error, created_resources: null });
    expect((await send("GET", POOL)).body).toEqual(before);
  },
);

test.each(["timeout_client_data", "timeout_member_connect", "timeout_member_data"])(
  "%s is accepted from 0 to 86400000 and refused outside",
  async (field) => {
    const { send, clock } = await startService();
    const sendValue = async (value: number) => {
      const answer = await send("PATCH", POOL, { body: { [field]: value } });
      await clock.advance(10_000);
      return answer.status;
    };

    const statuses = [
      await sendValue(-1),
      await sendValue(0),
      await sendValue(1),
      await sendValue(86_399_999),
      await sendValue(86_400_000),
      await sendValue(86_400_001),
    ];

    expect(statuses).toEqual([400, 200, 200, 200, 200, 400]);
  },
);

test.each([
  ["lb_algorithm", { lb_algorithm: "RANDOM" }],
  ["protocol", { protocol: "SCTP" }],
  ["name", { name: "x" }],
  ["members.0.address", { members: [{ address: "host", protocol_port: 80 }] }],
  ["members.0.protocol_port", { members: [{ address: "10.0.0.1", protocol_port: 0 }] }],
  ["members.0.instance_id", { members: [{ ...MEMBER, instance_id: MEMBER_ID }] }],
  ["members.2", { members: [{ address: "10.0.0.1", protocol_port: 80 }, MEMBER, MEMBER] }],
  ["healthmonitor.max_retries", { healthmonitor: { delay: 10, timeout: 5 } }],
  ["healthmonitor.timeout", { healthmonitor: { delay: 5, timeout: 5, max_retries: 1 } }],
  ["session_persistence.type", { session_persistence: {} }],
  ["secret_id", { secret_id: "no-uuid" }],
])(
  "an update that breaks a rule of %s is refused with that field and changes nothing",
  async (field, body) => {
    const { send, stored } = await startService();
    const before = await stored();

    const refused = await send("PATCH", POOL, { body });

    expect(refused.status).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
    expect(await stored()).toEqual(before);
  },
);

test.each([
  ["an unknown id", "/cloud/v1/lbpools/1234567/76/9fccf0a3-c0de-441d-9afd-000000000000", 404],
  ["another project", "/cloud/v1/lbpools/1186668/76/9fccf0a3-c0de-441d-9afd-2b9b58b08b9f", 404],
  ["an id that is not a UUID", "/cloud/v1/lbpools/1234567/76/my_pool", 400],
])("reading and updating a pool by %s returns 404", async (_, path, status) => {
  const { send } = await startService();

  const read = await send("GET", path);
  const updated = await send("PATCH", path, { body: { name: "renamed" } });

  expect([read.status, updated.status]).toEqual([status, status]);
});

test("an empty update changes nothing in any pool", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      load_balancer_pools: builtIn.load_balancer_pools.map((pool) =>
        poolRecord.parse({
          ...pool,
          healthmonitor: { delay: 10, timeout: 5, max_retries: 2 },
          members: pool.members.map(({ weight, ...member }) => ({
            ...member,
            operating_status: "OFFLINE",
          })),
        }),
      ),
    }),
  });

  const empty = await send("PATCH", POOL, { body: {} });
  const renamed = await send("PATCH", POOL, { body: { name: "my_pool" } });

  expect([empty.body, renamed.body]).toEqual([{ tasks: [] }, { tasks: [] }]);
});

test("members equal by address and port keep their id, new ones get one, missing ones are removed", async () => {
  const { send, runTask } = await startService();

  const task = await runTask("PATCH", POOL, {
    members: [
      { address: "192.168.40.34", protocol_port: 80, id: MEMBER_ID },
      { ...MEMBER, weight: 7, operating_status: "OFFLINE" },
    ],
  });

  const { members } = (await send("GET", POOL)).body;
  expect(members).toMatchObject([
    { address: "192.168.40.34", weight: 1, operating_status: "NO_MONITOR" },
    { address: "192.168.40.33", weight: 7, operating_status: "NO_MONITOR", id: MEMBER_ID },
  ]);
  expect(members[0].id).not.toBe(MEMBER_ID);
  expect(task.created_resources).toEqual({ members: [members[0].id] });
});

test("an IPv6 address identifies the same member in every notation", async () => {
  const { send, runTask } = await startService();
  const withAddress = (address: string) => ({ members: [{ address, protocol_port: 80 }] });
  await runTask("PATCH", POOL, withAddress("2001:db8::1"));
  const before = (await send("GET", POOL)).body;

  const equal = await send("PATCH", POOL, { body: withAddress("2001:0DB8:0:0:0:0:0:1") });
  const twice = await send("PATCH", POOL, {
    body: {
      members: ["2001:db8::1", "2001:db8:0::1"].flatMap((a) => withAddress(a).members),
    },
  });

  expect(equal.body).toEqual({ tasks: [] });
  expect(before.members).toMatchObject([{ address: "2001:db8::1" }]);
  expect([twice.status, twice.body.message]).toEqual([
    400,
    "members.1: duplicate address and protocol_port",
  ]);
});

test("sending the members as they were read changes nothing", async () => {
  const { send, runTask } = await startService();
  await runTask("PATCH", POOL, { members: [MEMBER, { ...MEMBER, protocol_port: 81 }] });
  const { members } = (await send("GET", POOL)).body;

  const again = await send("PATCH", POOL, { body: { members } });

  expect(members).toHaveLength(2);
  expect([again.status, again.body]).toEqual([200, { tasks: [] }]);
});

test("the deprecated path announces its successor, which does the same without these headers", async () => {
  const { send, clock } = await startService();
  const successor = POOL.replace("/v1/", "/v2/");

  const deprecated = await send("PATCH", POOL, { body: { name: "renamed once" } });
  await clock.advance(10_000);
  const current = await send("PATCH", successor, { body: { name: "renamed twice" } });
  const refused = await send("PATCH", POOL, { body: { name: "locked now" } });

  expect(deprecated.headers.get("Deprecation")).toBe("@1763424000");
  expect(deprecated.headers.get("Link")).toBe(
    "</cloud/v2/lbpools/1234567/76/9fccf0a3-c0de-441d-9afd-2b9b58b08b9f>; " +
      'rel="successor-version"',
  );
  expect(current.status).toBe(200);
  expect(current.body.tasks).toHaveLength(1);
  expect(current.headers.get("Deprecation")).toBeNull();
  expect(refused.status).toBe(409);
  expect(refused.headers.get("Deprecation")).toBe("@1763424000");
});
