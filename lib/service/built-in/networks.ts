import type { NetworkRecord, State } from "../state/state.ts";

/** Where the built-in world lives: two projects of one client, two regions. */
export const PROJECT_A = { project_id: 1234567, region_id: 76 } as const;
export const PROJECT_B = { project_id: 1186668, region_id: 148 } as const;
/** Of the provider itself: its external networks are in no customer's project. */
const PROVIDER_PROJECT = 1;
export const REGION_NAMES = { 76: "Luxembourg-2", 148: "Luxembourg-3" } as const;

export const SUBNET_OF_ROUTER = "32283b0b-b560-4690-810c-f672cbb2e28d";

const subnet = (id: string, name: string, cidr: string, gateway_ip: string) => ({
  id,
  name,
  cidr,
  gateway_ip,
});

const tags = (): NetworkRecord["tags"] => [
  { key: "cost-center", value: "platform", read_only: false },
  { key: "my-tag", value: "my-tag-value", read_only: true },
];

/** Networks with attached and free subnets, an external network in each region, and one router. */
export const builtInNetworks = (): Pick<State, "networks" | "floating_ips" | "routers"> => ({
  networks: [
    {
      id: "b39792c3-3160-4356-912e-ba396c95cdcf",
      name: "net1",
      ...PROJECT_A,
      external: false,
      tags: tags(),
      task_id: null,
      subnets: [
        subnet(SUBNET_OF_ROUTER, "attached", "192.168.40.0/24", "192.168.40.1"),
        subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01", "free-1", "10.0.0.0/24", "10.0.0.1"),
        subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d02", "free-2", "10.0.1.0/24", "10.0.1.1"),
      ],
    },
    {
      id: "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60",
      name: "net2",
      ...PROJECT_B,
      external: false,
      tags: tags(),
      task_id: null,
      subnets: [
        subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03", "free-3", "10.1.0.0/24", "10.1.0.1"),
      ],
    },
    {
      id: "e0a9d8c7-b6a5-4433-8221-100f0e0d0c76",
      name: "pub_net",
      project_id: PROVIDER_PROJECT,
      region_id: 76,
      external: true,
      tags: [],
      task_id: null,
      subnets: [
        subnet(
          "5d6e7f80-91a2-4b3c-8d4e-5f6071829376",
          "pub_subnet",
          "203.0.113.0/24",
          "203.0.113.1",
        ),
      ],
    },
    {
      id: "e0a9d8c7-b6a5-4433-8221-100f0e0d0148",
      name: "pub_net",
      project_id: PROVIDER_PROJECT,
      region_id: 148,
      external: true,
      tags: [],
      task_id: null,
      subnets: [
        subnet(
          "5d6e7f80-91a2-4b3c-8d4e-5f6071829148",
          "pub_subnet",
          "198.51.100.0/24",
          "198.51.100.1",
        ),
      ],
    },
  ],
  floating_ips: [
    {
      ...PROJECT_A,
      id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82d",
      floating_ip_address: "203.0.113.42",
      fixed_ip_address: "192.168.40.33",
      port_id: "1f0e2d3c-4b5a-4968-8776-655443322111",
      router_id: "da5b9588-cecc-4111-a318-3ad04da05900",
      status: "ACTIVE",
      created_at: "2025-11-03T09:00:00.000Z",
      tags: tags(),
      task_id: null,
    },
    {
      ...PROJECT_B,
      id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82e",
      floating_ip_address: "198.51.100.42",
      fixed_ip_address: null,
      port_id: null,
      router_id: null,
      status: "DOWN",
      created_at: "2025-11-03T09:00:00.000Z",
      tags: [],
      task_id: null,
    },
  ],
  routers: [
    {
      id: "da5b9588-cecc-4111-a318-3ad04da05900",
      name: "my_wonderful_router",
      ...PROJECT_A,
      region: REGION_NAMES[76],
      status: "ACTIVE",
      distributed: false,
      interfaces: [
        {
          port_id: "1f0e2d3c-4b5a-4968-8776-655443322110",
          network_id: "b39792c3-3160-4356-912e-ba396c95cdcf",
          ip_assignments: [{ ip_address: "192.168.40.1", subnet_id: SUBNET_OF_ROUTER }],
        },
      ],
      routes: [{ destination: "10.0.3.0/24", nexthop: "192.168.40.13" }],
      external_gateway_info: {
        network_id: "e0a9d8c7-b6a5-4433-8221-100f0e0d0c76",
        enable_snat: true,
        external_fixed_ips: [
          { ip_address: "203.0.113.2", subnet_id: "5d6e7f80-91a2-4b3c-8d4e-5f6071829376" },
        ],
      },
      created_at: "2025-11-03T08:15:00.000Z",
      updated_at: "2025-11-03T08:15:08.000Z",
      task_id: null,
      creator_task_id: "d478ae29-dedc-4869-82f0-96104425f565",
    },
  ],
});
