import * as z from "zod";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import {
  lock,
  PROJECT_A,
  PROJECT_B,
  PROVIDER_PROJECT,
  SUBNET_OF_ROUTER,
  tagRecord,
} from "./fields.ts";

const subnetRecord = z.strictObject({
  id: uuid(),
  name: z.string(),
  cidr: z.cidrv4(),
  gateway_ip: z.ipv4(),
});

/** A network. Every project of the region can use an external one. */
export const networkRecord = z.strictObject({
  ...projectAndRegion(),
  id: uuid(),
  name: z.string(),
  external: z.boolean(),
  subnets: z.array(subnetRecord),
  tags: z.array(tagRecord),
  task_id: lock,
});

export type NetworkRecord = z.output<typeof networkRecord>;
export type SubnetRecord = NetworkRecord["subnets"][number];

export const floatingIpRecord = z.strictObject({
  ...projectAndRegion(),
  id: uuid(),
  floating_ip_address: z.string(),
  fixed_ip_address: z.string().nullable(),
  port_id: z.string().nullable(),
  router_id: z.string().nullable(),
  status: z.string(),
  created_at: z.string(),
  tags: z.array(tagRecord),
  task_id: lock,
});

const subnet = (id: string, name: string, cidr: string, gateway_ip: string): SubnetRecord => ({
  id,
  name,
  cidr,
  gateway_ip,
});

const builtInTags = (): NetworkRecord["tags"] => [
  { key: "cost-center", value: "platform", read_only: false },
  { key: "my-tag", value: "my-tag-value", read_only: true },
];

const ownNetwork = { external: false, task_id: null };
const externalNetwork = {
  name: "pub_net",
  project_id: PROVIDER_PROJECT,
  external: true,
  tags: [],
  task_id: null,
};

/** A network with subnets in each project, and an external network in each region. */
export const builtInNetworks = (): NetworkRecord[] => [
  {
    ...ownNetwork,
    ...PROJECT_A,
    id: "b39792c3-3160-4356-912e-ba396c95cdcf",
    name: "net1",
    tags: builtInTags(),
    subnets: [
      subnet(SUBNET_OF_ROUTER, "attached", "192.168.40.0/24", "192.168.40.1"),
      subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01", "free-1", "10.0.0.0/24", "10.0.0.1"),
      subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d02", "free-2", "10.0.1.0/24", "10.0.1.1"),
    ],
  },
  {
    ...ownNetwork,
    ...PROJECT_B,
    id: "c2f1b7de-64a5-4d0e-8f7b-1e2d3c4b5a60",
    name: "net2",
    tags: builtInTags(),
    subnets: [subnet("7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d03", "free-3", "10.1.0.0/24", "10.1.0.1")],
  },
  {
    ...externalNetwork,
    id: "e0a9d8c7-b6a5-4433-8221-100f0e0d0c76",
    region_id: 76,
    subnets: [
      subnet("5d6e7f80-91a2-4b3c-8d4e-5f6071829376", "pub_subnet", "203.0.113.0/24", "203.0.113.1"),
    ],
  },
  {
    ...externalNetwork,
    id: "e0a9d8c7-b6a5-4433-8221-100f0e0d0148",
    region_id: 148,
    subnets: [
      subnet(
        "5d6e7f80-91a2-4b3c-8d4e-5f6071829148",
        "pub_subnet",
        "198.51.100.0/24",
        "198.51.100.1",
      ),
    ],
  },
];

export const builtInFloatingIps = (): z.output<typeof floatingIpRecord>[] => [
  {
    ...PROJECT_A,
    id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82d",
    floating_ip_address: "203.0.113.42",
    fixed_ip_address: "192.168.40.33",
    port_id: "1f0e2d3c-4b5a-4968-8776-655443322111",
    router_id: "da5b9588-cecc-4111-a318-3ad04da05900",
    status: "ACTIVE",
    created_at: "2025-11-03T09:00:00.000Z",
    tags: builtInTags(),
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
];
