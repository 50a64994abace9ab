import * as z from "zod";
import {
  healthMonitorSchema,
  poolMemberSchema,
  poolSchema,
  poolUpdateSchema,
  sessionPersistenceSchema,
} from "../../contract/load-balancer-pools.ts";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock } from "./fields.ts";

const memberRecord = poolMemberSchema.safeExtend({
  id: uuid,
  operating_status: z.string(),
  provisioning_status: z.string(),
});

const reference = z.strictObject({ id: z.string() });
const settings = poolUpdateSchema
  .pick({
    lb_algorithm: true,
    protocol: true,
    admin_state_up: true,
    ca_secret_id: true,
    crl_secret_id: true,
    secret_id: true,
    timeout_client_data: true,
    timeout_member_connect: true,
    timeout_member_data: true,
  })
  .required().shape;

export const poolRecord = poolSchema
  .extend({
    ...projectAndRegion,
    id: uuid,
    ...settings,
    healthmonitor: healthMonitorSchema.nullable(),
    session_persistence: sessionPersistenceSchema.nullable(),
    members: z.array(memberRecord),
    listeners: z.array(reference),
    loadbalancers: z.array(reference),
    creator_task_id: z.string().nullable(),
    task_id: lock,
    operating_status: z.string(),
    provisioning_status: z.string(),
  })
  .strict();
