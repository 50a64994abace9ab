import { expect, test } from "vitest";
import { ROUTERS, startService } from "./harness.ts";

const FREE_1 = "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01";
const EXTERNAL_NETWORK = "e0a9d8c7-b6a5-4433-8221-100f0e0d0c76";

test("of two routers on one subnet the first is its gateway and the second takes a free address", async () => {
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
])("the task fails and there is no router when %s is full", async (_, settings, error) => {
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

test("an address that an instance, a floating IP or a router has is not given away", async () => {
  const { runTask, send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      networks: builtIn.networks.map((network) => ({
        ...network,
        subnets: network.subnets.map((subnet) =>
          // Eight addresses around the floating IP, written with a host's address.
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
