import { expect, test } from "vitest";
import { stateSchema } from "../../../lib/service/state/state.ts";
import { ROUTERS, startService } from "./harness.ts";

const FREE_1 = "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01";
const FREE_2 = "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d02";
const FREE_IN_OTHER_PROJECT = "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03";
const EXTERNAL_NETWORK = "e0a9d8c7-b6a5-4433-8221-100f0e0d0c76";
const INTERNAL_NETWORK = "b39792c3-3160-4356-912e-ba396c95cdcf";
/** Format of the published samples. */
const MAC_ADDRESS = /^[\da-f]{2}(:[\da-f]{2}){5}$/;

test("a router exists when its task has finished, with the id in created_resources", async () => {
  const { send, runTask } = await startService();

  const task = await runTask("POST", ROUTERS, {
    name: "edge",
    external_gateway_info: { type: "default" },
    interfaces: [{ subnet_id: FREE_1 }, { type: "subnet", subnet_id: FREE_2 }],
    routes: [{ destination: "10.0.3.0/24", nexthop: "10.0.0.13" }],
  });

  expect(task).toMatchObject({
    state: "FINISHED",
    task_type: "create_router",
    created_resources: { routers: [expect.any(String)] },
    data: { name: "edge" },
  });
  const router = await send("GET", `${ROUTERS}/${task.created_resources.routers[0]}`);
  expect(router.status).toBe(200);
  expect(router.body).toEqual({
    id: task.created_resources.routers[0],
    name: "edge",
    status: "ACTIVE",
    distributed: false,
    interfaces: [
      {
        port_id: expect.any(String),
        mac_address: expect.stringMatching(MAC_ADDRESS),
        network_id: INTERNAL_NETWORK,
        ip_assignments: [{ ip_address: "10.0.0.1", subnet_id: FREE_1 }],
      },
      {
        port_id: expect.any(String),
        mac_address: expect.stringMatching(MAC_ADDRESS),
        network_id: INTERNAL_NETWORK,
        ip_assignments: [{ ip_address: "10.0.1.1", subnet_id: FREE_2 }],
      },
    ],
    routes: [{ destination: "10.0.3.0/24", nexthop: "10.0.0.13" }],
    external_gateway_info: {
      network_id: EXTERNAL_NETWORK,
      enable_snat: true,
      external_fixed_ips: [
        { ip_address: "203.0.113.3", subnet_id: "5d6e7f80-91a2-4b3c-8d4e-5f6071829376" },
      ],
    },
    created_at: "2026-01-01T00:00:00.000Z",
    updated_at: "2026-01-01T00:00:10.000Z",
    task_id: null,
    creator_task_id: task.id,
    project_id: 1234567,
    region_id: 76,
    region: "Luxembourg-2",
  });
});

test("a router needs only a name, and null counts as absent", async () => {
  const { send, runTask } = await startService();

  const bare = await runTask("POST", ROUTERS, { name: "bare" });
  const nulls = await runTask("POST", ROUTERS, {
    name: "nulls",
    external_gateway_info: null,
    interfaces: null,
    routes: null,
  });

  expect([bare.state, nulls.state]).toEqual(["FINISHED", "FINISHED"]);
  const router = await send("GET", `${ROUTERS}/${nulls.created_resources.routers[0]}`);
  expect(router.body).toMatchObject({ external_gateway_info: null, interfaces: [], routes: [] });
});

test("a manual gateway has the given network and enable_snat", async () => {
  const { send, runTask } = await startService();

  const task = await runTask("POST", ROUTERS, {
    name: "manual",
    external_gateway_info: { type: "manual", network_id: EXTERNAL_NETWORK, enable_snat: false },
  });

  const router = await send("GET", `${ROUTERS}/${task.created_resources.routers[0]}`);
  expect(router.body.external_gateway_info).toMatchObject({
    network_id: EXTERNAL_NETWORK,
    enable_snat: false,
  });
});

test.each([
  [
    "a subnet does not exist",
    { interfaces: [{ subnet_id: "00000000-0000-4000-8000-000000000001" }] },
    "subnet 00000000-0000-4000-8000-000000000001 does not exist",
  ],
  [
    "a subnet belongs to another project",
    { interfaces: [{ subnet_id: FREE_IN_OTHER_PROJECT }] },
    `subnet ${FREE_IN_OTHER_PROJECT} does not exist`,
  ],
  [
    "a subnet is listed twice",
    { interfaces: [{ subnet_id: FREE_1 }, { subnet_id: FREE_1 }] },
    `subnet ${FREE_1} is listed twice; a router has one interface per subnet`,
  ],
  [
    "the network of a manual gateway is unknown",
    {
      external_gateway_info: {
        type: "manual",
        network_id: "00000000-0000-4000-8000-000000000002",
      },
    },
    "external network 00000000-0000-4000-8000-000000000002 does not exist",
  ],
  [
    "the network of a manual gateway is not external",
    { external_gateway_info: { type: "manual", network_id: INTERNAL_NETWORK } },
    `external network ${INTERNAL_NETWORK} does not exist`,
  ],
])("the task fails and creates no router if %s", async (_, settings, error) => {
  const { runTask, stored } = await startService();

  const task = await runTask("POST", ROUTERS, { name: "edge", ...settings });

  expect(task).toMatchObject({ state: "ERROR", error, created_resources: null });
  const routers = Object.keys(await stored()).filter((key) => key.startsWith("routers/"));
  expect(routers).toEqual(["routers/da5b9588-cecc-4111-a318-3ad04da05900"]);
});

test.each([
  ["another project in the same region", "/cloud/v1/routers/1186668/76"],
  ["another region of the same project", "/cloud/v1/routers/1234567/148"],
])("a subnet cannot be attached in %s", async (_, path) => {
  const { runTask } = await startService();

  const task = await runTask("POST", path, {
    name: "edge",
    interfaces: [{ subnet_id: FREE_1 }],
  });

  expect(task).toMatchObject({ state: "ERROR", error: `subnet ${FREE_1} does not exist` });
});

test("a region without an external network has no default gateway", async () => {
  const { runTask } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      networks: builtIn.networks.filter(({ external }) => !external),
    }),
  });

  const task = await runTask("POST", ROUTERS, {
    name: "edge",
    external_gateway_info: { type: "default" },
  });

  expect(task).toMatchObject({ state: "ERROR", error: "the region has no external network" });
});

test.each([
  ["name", {}],
  ["name", { name: "ab" }],
  ["external_gateway_info.type", { name: "edge", external_gateway_info: { type: "auto" } }],
  ["external_gateway_info.network_id", { name: "edge", external_gateway_info: { type: "manual" } }],
  ["interfaces.0.subnet_id", { name: "edge", interfaces: [{}] }],
  ["interfaces.0.type", { name: "edge", interfaces: [{ type: "port", subnet_id: FREE_1 }] }],
  ["routes.0.destination", { name: "edge", routes: [{ destination: "x", nexthop: "10.0.0.1" }] }],
  ["routes.0.nexthop", { name: "edge", routes: [{ destination: "10.0.0.0/8", nexthop: "x" }] }],
])("a router that breaks a rule of %s is refused and no task is created", async (field, body) => {
  const { send, stored } = await startService();
  const before = await stored();

  const refused = await send("POST", ROUTERS, { body });

  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  expect(await stored()).toEqual(before);
});

test.each([
  ["a foreign project", "/cloud/v1/routers/1337/76", "project not found"],
  ["an unknown project", "/cloud/v1/routers/9/76", "project not found"],
  ["an unknown region", "/cloud/v1/routers/1234567/9", "region not found"],
])("creating a router in %s returns 404 without a task", async (_, path, message) => {
  const { send } = await startService();

  const refused = await send("POST", path, { body: { name: "edge" } });

  expect(refused.status).toBe(404);
  expect(refused.body).toMatchObject({ message });
});

test("reading a router of another region or an unknown one returns 404", async () => {
  const { send } = await startService();

  const answers = [
    await send("GET", `${ROUTERS}/da5b9588-cecc-4111-a318-3ad04da05900`),
    await send("GET", "/cloud/v1/routers/1234567/148/da5b9588-cecc-4111-a318-3ad04da05900"),
    await send("GET", `${ROUTERS}/da5b9588-cecc-4111-a318-000000000000`),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 404, 404]);
});

test("ids in a body match in any letter case, as in a path", async () => {
  const { runTask } = await startService();

  const task = await runTask("POST", ROUTERS, {
    name: "edge",
    interfaces: [{ subnet_id: FREE_1.toUpperCase() }],
    external_gateway_info: { type: "manual", network_id: EXTERNAL_NETWORK.toUpperCase() },
  });

  expect(task).toMatchObject({ state: "FINISHED", error: null });
});

test("every interface has its own MAC address, even one stored by an earlier version", async () => {
  const { send, runTask } = await startService({
    state: (builtIn) =>
      stateSchema.parse(
        JSON.parse(
          JSON.stringify(builtIn, (name, value) => (name === "mac_address" ? undefined : value)),
        ),
      ),
  });
  const builtIn = `${ROUTERS}/da5b9588-cecc-4111-a318-3ad04da05900`;
  const made = await runTask("POST", ROUTERS, {
    name: "edge",
    interfaces: [{ subnet_id: FREE_1 }, { subnet_id: FREE_2 }],
  });

  const bodies = [
    (await send("GET", builtIn)).body,
    (await send("GET", `${ROUTERS}/${made.created_resources.routers[0]}`)).body,
  ];
  const again = (await send("GET", builtIn)).body;

  const addresses = bodies.flatMap(({ interfaces }) =>
    interfaces.map(({ mac_address }: { mac_address: unknown }) => mac_address),
  );
  expect(addresses).toHaveLength(3);
  for (const address of addresses) expect(address).toMatch(MAC_ADDRESS);
  expect(new Set(addresses).size).toBe(3);
  expect(again).toEqual(bodies[0]);
});

test("the first router of a subnet takes its gateway address, the second one a free address", async () => {
  const { runTask, send } = await startService();
  const body = { name: "edge", interfaces: [{ subnet_id: FREE_1 }] };
  const addressOf = async (task: { created_resources: { routers: string[] } }) => {
    const router = await send("GET", `${ROUTERS}/${task.created_resources.routers[0]}`);
    return router.body.interfaces[0].ip_assignments;
  };

  const first = await addressOf(await runTask("POST", ROUTERS, body));
  const second = await addressOf(await runTask("POST", ROUTERS, body));

  expect(first).toEqual([{ ip_address: "10.0.0.1", subnet_id: FREE_1 }]);
  expect(second).toEqual([{ ip_address: "10.0.0.2", subnet_id: FREE_1 }]);
});

test.each([
  ["a subnet", { interfaces: [{ subnet_id: FREE_1 }] }, `subnet ${FREE_1} has no free address`],
  [
    "the external network",
    { external_gateway_info: { type: "default" } },
    `external network ${EXTERNAL_NETWORK} has no free address`,
  ],
])("the task fails and creates no router if %s is full", async (_, settings, error) => {
  const { runTask, stored } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      // A /30 has two host addresses.
      networks: builtIn.networks.map((network) => ({
        ...network,
        subnets: network.subnets.map((subnet) => ({
          ...subnet,
          cidr: subnet.cidr.replace("/24", "/30"),
        })),
      })),
    }),
  });
  const before = [];
  for (let n = 0; n < 3; n += 1)
    before.push(await runTask("POST", ROUTERS, { name: "r-1", ...settings }));

  const last = before.at(-1);
  const finished = before.filter(({ state }) => state === "FINISHED").length;
  const routers = Object.keys(await stored()).filter((key) => key.startsWith("routers/"));

  expect(last).toMatchObject({ state: "ERROR", error, created_resources: null });
  expect(routers).toHaveLength(1 + finished);
});

test("an address of an instance, a floating IP or a router is not assigned again", async () => {
  const { runTask, send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      networks: builtIn.networks.map((network) => ({
        ...network,
        subnets: network.subnets.map((subnet) =>
          // Eight addresses around the floating IP, in CIDR form with a host's address.
          subnet.cidr === "203.0.113.0/24"
            ? { ...subnet, cidr: "203.0.113.44/29", gateway_ip: "203.0.113.41" }
            : subnet,
        ),
      })),
      instances: builtIn.instances.map((instance) => ({
        ...instance,
        fixed_ip_assignments: [{ external: false, ip_address: "10.0.0.2", subnet_id: FREE_1 }],
      })),
    }),
  });
  const body = {
    name: "edge",
    interfaces: [{ subnet_id: FREE_1 }],
    external_gateway_info: { type: "default" },
  };
  const addresses = [];
  for (let n = 0; n < 2; n += 1) {
    const task = await runTask("POST", ROUTERS, body);
    const { body: router } = await send("GET", `${ROUTERS}/${task.created_resources.routers[0]}`);
    addresses.push(
      router.interfaces[0].ip_assignments[0].ip_address,
      router.external_gateway_info.external_fixed_ips[0].ip_address,
    );
  }

  expect(addresses).toEqual(["10.0.0.1", "203.0.113.43", "10.0.0.3", "203.0.113.44"]);
});
