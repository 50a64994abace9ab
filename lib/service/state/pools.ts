import * as z from "zod";
import {
  healthMonitorSchema,
  poolMemberSchema,
  poolSchema,
  poolUpdateSchema,
  sessionPersistenceSchema,
} from "../../contract/load-balancer-pools.ts";
import { uuid } from "../../contract/values.ts";
import { lock, projectAndRegion } from "./fields.ts";

const memberRecord = poolMemberSchema.safeExtend({
  id: uuid,
  operating_status: z.string(),
  provisioning_status: z.string(),
});

const reference = z.strictObject({ id: z.string() });
const settings = poolUpdateSchema
  .pick({ lb_algorithm: true, protocol: true, admin_state_up: true })
  .required().shape;

export const poolRecord = poolSchema
  .extend({
    ...projectAndRegion,
    id: uuid,
    ...settings,
    healthmonitor: healthMonitorSchema.nullable(),
    session_persistence: sessionPersistenceSchema.nullable(),
    members: z.array(memberRecord),
    ca_secret_id: uuid.nullable(),
    crl_secret_id: uuid.nullable(),
    secret_id: uuid.nullable(),
    timeout_client_data: z.int().nullable(),
    timeout_member_connect: z.int().nullable(),
    timeout_member_data: z.int().nullable(),
    listeners: z.array(reference),
    loadbalancers: z.array(reference),
    creator_task_id: z.string().nullable(),
    task_id: lock,
    operating_status: z.string(),
    provisioning_status: z.string(),
  })
  .strict();
