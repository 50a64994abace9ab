import * as z from "zod";
import { routerSchema } from "../../contract/routers.ts";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock, PROJECT_A, REGION_NAMES, SUBNET_OF_ROUTER } from "./fields.ts";

const ipAssignment = z.strictObject({ ip_address: z.string(), subnet_id: uuid() });

/** MAC address of a port: the prefix of OpenStack and the last digits of the port's id. */
export const macAddressOf = (portId: string): string =>
  ["fa", "16", "3e", ...(portId.slice(-6).match(/../g) ?? [])].join(":");

/** Interface of a router. Adds the MAC address, which an earlier version did not store. */
const routerInterface = z
  .strictObject({
    port_id: uuid(),
    network_id: uuid(),
    ip_assignments: z.array(ipAssignment),
    mac_address: z.string().optional(),
  })
  .transform((port) => ({ ...port, mac_address: port.mac_address ?? macAddressOf(port.port_id) }));

export const routerRecord = routerSchema()
  .extend({
    ...projectAndRegion(),
    id: uuid(),
    region: z.string(),
    status: z.string(),
    distributed: z.boolean(),
    interfaces: z.array(routerInterface),
    external_gateway_info: z
      .strictObject({
        network_id: uuid(),
        enable_snat: z.boolean(),
        external_fixed_ips: z.array(ipAssignment),
      })
      .nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    task_id: lock,
    creator_task_id: z.string().nullable(),
  })
  .strict();

export type RouterRecord = z.output<typeof routerRecord>;

export const builtInRouters = (): RouterRecord[] => [
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
        mac_address: "fa:16:3e:32:21:10",
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
];
