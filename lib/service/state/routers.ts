import * as z from "zod";
import { routerSchema } from "../../contract/routers.ts";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock } from "./fields.ts";

const ipAssignment = z.strictObject({ ip_address: z.string(), subnet_id: uuid });

export const routerRecord = routerSchema
  .extend({
    ...projectAndRegion,
    id: uuid,
    region: z.string(),
    status: z.string(),
    distributed: z.boolean(),
    interfaces: z.array(
      z.strictObject({
        port_id: uuid,
        network_id: uuid,
        ip_assignments: z.array(ipAssignment),
      }),
    ),
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
