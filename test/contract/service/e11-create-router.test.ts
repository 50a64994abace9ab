import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, runTask, own, one, state } = await openTarget();
const network = one("networks", ({ external, subnets }) => !external && subnets.length > 1);
const [subnet, otherSubnet] = network.subnets;
const elsewhereSubnet = own("networks").find(
  ({ external, project_id }) => !external && project_id !== network.project_id,
)?.subnets[0];
const external = state.networks.find((one) => one.external && one.region_id === network.region_id);
const ROUTERS = `/cloud/v1/routers/${place(network)}`;

/** Creates a router and reads it by the id in created_resources. */
const create = async (body: object): Promise<Answer["body"]> => {
  const task = await runTask("POST", ROUTERS, body);
  expect(task).toMatchObject({ state: "FINISHED", task_type: "create_router" });
  expect(task.created_resources).toEqual({ routers: [expect.any(String)] });
  return (await call("GET", `${ROUTERS}/${task.created_resources.routers[0]}`)).body;
};

test("created_resources has the id of the router, which has its name and location and is not locked", async () => {
  const name = uniqueName("router");

  const task = await runTask("POST", ROUTERS, { name });

  const id = task.created_resources.routers[0];
  const router = await call("GET", `${ROUTERS}/${id}`);
  const { project_id, region_id } = network;
  expect(router.status).toBe(200);
  expect(router.body).toMatchObject({
    ...{ id, name, project_id, region_id },
    interfaces: [],
    routes: [],
    external_gateway_info: null,
    task_id: null,
    creator_task_id: task.id,
  });
});

test("interfaces with and without type are attached, each with an address of its subnet", async () => {
  const router = await create({
    name: uniqueName("router"),
    interfaces: [{ type: "subnet", subnet_id: subnet?.id }, { subnet_id: otherSubnet?.id }],
  });

  expect(router.interfaces).toMatchObject([
    { network_id: network.id, ip_assignments: [{ subnet_id: subnet?.id }] },
    { network_id: network.id, ip_assignments: [{ subnet_id: otherSubnet?.id }] },
  ]);
});

test("routes are accepted even without an interface that reaches the next hop", async () => {
  const routes = [
    { destination: "10.0.3.0/24", nexthop: "198.51.100.7" },
    { destination: "2001:db8::/32", nexthop: "2001:db8::1" },
  ];

  const router = await create({ name: uniqueName("router"), routes });

  expect(router).toMatchObject({ routes, interfaces: [] });
});

test.each([
  ["default", {}, true],
  ["default", { enable_snat: true }, true],
  ["default", { enable_snat: false }, false],
  ["manual", { network_id: external?.id }, true],
  ["manual", { network_id: external?.id, enable_snat: false }, false],
  [undefined, {}, true],
  [undefined, { enable_snat: false }, false],
  [undefined, { network_id: external?.id }, true],
])("a %s gateway with %o has the external network and enable_snat %s", async (type, more, snat) => {
  const router = await create({
    name: uniqueName("router"),
    external_gateway_info: { type, ...more },
  });

  expect(external).toBeDefined();
  expect(router.external_gateway_info).toMatchObject({
    network_id: external?.id,
    enable_snat: snat,
  });
});

test("null counts as absent", async () => {
  const router = await create({
    name: uniqueName("router"),
    external_gateway_info: null,
    interfaces: null,
    routes: null,
  });

  expect(router).toMatchObject({ external_gateway_info: null, interfaces: [], routes: [] });
});

test("two routers may have the same name", async () => {
  const name = uniqueName("twin");

  const [first, second] = [await create({ name }), await create({ name })];

  expect([first.name, second.name]).toEqual([name, name]);
  expect(first.id).not.toBe(second.id);
});

const manual = (network_id: string) => ({
  external_gateway_info: { type: "manual", network_id },
});

test.each([
  ["a subnet that does not exist", { interfaces: [{ subnet_id: UNKNOWN_ID }] }, UNKNOWN_ID],
  [
    "a subnet of another project",
    { interfaces: [{ subnet_id: elsewhereSubnet?.id }] },
    elsewhereSubnet?.id,
  ],
  [
    "a subnet twice",
    { interfaces: [{ subnet_id: subnet?.id }, { subnet_id: subnet?.id }] },
    subnet?.id,
  ],
  ["a gateway network that does not exist", manual(UNKNOWN_ID), UNKNOWN_ID],
  ["a gateway network that is not external", manual(network.id), network.id],
])("the task ends in ERROR and creates nothing for %s", async (_, settings, id) => {
  const task = await runTask("POST", ROUTERS, { name: uniqueName("never"), ...settings });

  expect(task).toMatchObject({ state: "ERROR", created_resources: null });
  expect(task.error).toContain(id);
});

test.each([3, 4, 62, 63])("a name of %i characters is accepted", async (length) => {
  const router = await create({ name: "r".repeat(length) });

  expect(router.name).toBe("r".repeat(length));
});

test.each([
  ["name", {}],
  ["name", { name: "ab" }],
  ["name", { name: "r".repeat(64) }],
  ["name", { name: "-router" }],
  ["external_gateway_info.type", { name: "edge", external_gateway_info: { type: "automatic" } }],
  ["external_gateway_info.network_id", { name: "edge", external_gateway_info: { type: "manual" } }],
  [
    "external_gateway_info.enable_snat",
    { name: "edge", external_gateway_info: { type: "default", enable_snat: "yes" } },
  ],
  ["interfaces.0.subnet_id", { name: "edge", interfaces: [{ type: "subnet" }] }],
  ["interfaces.0.subnet_id", { name: "edge", interfaces: [{ subnet_id: "free-1" }] }],
  ["interfaces.0.type", { name: "edge", interfaces: [{ type: "port", subnet_id: UNKNOWN_ID }] }],
  ["routes.0.nexthop", { name: "edge", routes: [{ destination: "10.0.0.0/8" }] }],
  ["routes.0.nexthop", { name: "edge", routes: [{ destination: "10.0.0.0/8", nexthop: "hop" }] }],
  [
    "routes.0.destination",
    { name: "edge", routes: [{ destination: "10.0.0.0/33", nexthop: "10.0.0.1" }] },
  ],
  ["distributed", { name: "edge", distributed: true }],
  ["body", undefined],
])("a router that breaks a rule of %s is refused: %o", async (field, body) => {
  const refused = await call("POST", ROUTERS, { body });

  expect(refusedFields(refused)).toEqual([field]);
});

test.each([
  ["a project without an owner", `999999999/${network.region_id}`],
  ["a region that does not exist", `${network.project_id}/999999`],
])("creating a router in %s returns 404", async (_, where) => {
  const answer = await call("POST", `/cloud/v1/routers/${where}`, { body: { name: "edge" } });

  expect(answer.status).toBe(404);
  expect(answer.body.exception_class).toBe("NotFoundError");
});
