import * as z from "zod";
import { routerSchema } from "../../contract/routers.ts";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock } from "./fields.ts";

const ipAssignment = z.strictObject({ ip_address: z.string(), subnet_id: uuid });

/** A port's address, made of its id: OpenStack's prefix, then the id's last digits. */
export const macAddressOf = (portId: string): string =>
  ["fa", "16", "3e", ...(portId.slice(-6).match(/../g) ?? [])].join(":");

/** An earlier version stored no MAC addresses. */
const routerInterface = z
  .strictObject({
    port_id: uuid,
    network_id: uuid,
    ip_assignments: z.array(ipAssignment),
    mac_address: z.string().optional(),
  })
  .transform((port) => ({ ...port, mac_address: port.mac_address ?? macAddressOf(port.port_id) }));

export const routerRecord = routerSchema
  .extend({
    ...projectAndRegion,
    id: uuid,
    region: z.string(),
    status: z.string(),
    distributed: z.boolean(),
    interfaces: z.array(routerInterface),
    external_gateway_info: z
      .strictObject({
        network_id: uuid,
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
