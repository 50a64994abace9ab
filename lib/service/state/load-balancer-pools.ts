import { v5 } from "uuid";
import * as z from "zod";
import {
  healthMonitorSchema,
  poolMemberSchema,
  poolSchema,
  poolUpdateSchema,
  sessionPersistenceSchema,
} from "../../contract/load-balancer-pools.ts";
import { projectAndRegion, uuid } from "../../contract/values.ts";
import { lock, PROJECT_A, PROJECT_B, SUBNET_OF_ROUTER } from "./fields.ts";

const memberRecord = poolMemberSchema().safeExtend({
  id: uuid(),
  operating_status: z.string(),
  provisioning_status: z.string(),
});

/** A stored monitor. An earlier version stored only the fields of the update, with any text as codes. */
export const storedMonitor = healthMonitorSchema().safeExtend({
  expected_codes: z.string().nullable().optional(),
});

/** The published monitor record, completed with the provider's defaults. */
export const toMonitorRecord = (
  given: z.output<typeof storedMonitor> & { readonly id: string },
) => ({
  id: given.id,
  type: given.type ?? "HTTP",
  delay: given.delay,
  timeout: given.timeout,
  max_retries: given.max_retries,
  max_retries_down: given.max_retries_down ?? 3,
  admin_state_up: given.admin_state_up ?? true,
  http_method: given.http_method ?? null,
  http_version: given.http_version ?? null,
  url_path: given.url_path ?? null,
  expected_codes: given.expected_codes ?? null,
  domain_name: given.domain_name ?? null,
  operating_status: (given.admin_state_up ?? true) ? "ONLINE" : "OFFLINE",
  provisioning_status: "ACTIVE",
});

/** Namespace of the ids that replace missing ids of stored monitors (UUID version 5). */
const MONITOR_NAMESPACE = "5b1e6a4e-7d0c-4b38-9f0a-3c6d2f7e8a91";

const reference = z.strictObject({ id: z.string() });
const settings = poolUpdateSchema()
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

export const poolRecord = poolSchema()
  .extend({
    ...projectAndRegion(),
    id: uuid(),
    ...settings,
    healthmonitor: storedMonitor.nullable(),
    session_persistence: sessionPersistenceSchema().nullable(),
    members: z.array(memberRecord),
    listeners: z.array(reference),
    loadbalancers: z.array(reference),
    creator_task_id: z.string().nullable(),
    task_id: lock,
    operating_status: z.string(),
    provisioning_status: z.string(),
  })
  .strict()
  .transform(({ healthmonitor, ...pool }) => ({
    ...pool,
    healthmonitor:
      healthmonitor &&
      toMonitorRecord({ ...healthmonitor, id: healthmonitor.id ?? v5(pool.id, MONITOR_NAMESPACE) }),
  }));

export type PoolRecord = z.output<typeof poolRecord>;
export type MemberRecord = PoolRecord["members"][number];

const pool = (
  own: Pick<PoolRecord, "id" | "name" | "project_id" | "region_id" | "members">,
): PoolRecord => ({
  ...own,
  lb_algorithm: "ROUND_ROBIN",
  protocol: "HTTP",
  admin_state_up: true,
  listeners: [{ id: "d0c1b2a3-9485-4766-8574-63524130291f" }],
  loadbalancers: [{ id: "a1b2c3d4-e5f6-4071-8293-a4b5c6d7e8f9" }],
  healthmonitor: null,
  session_persistence: null,
  ca_secret_id: null,
  crl_secret_id: null,
  secret_id: null,
  timeout_client_data: 50000,
  timeout_member_connect: 50000,
  timeout_member_data: 50000,
  creator_task_id: null,
  task_id: null,
  operating_status: "ONLINE",
  provisioning_status: "ACTIVE",
});

export const builtInPools = (): PoolRecord[] => [
  pool({
    id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f",
    name: "my_pool",
    ...PROJECT_A,
    members: [
      {
        id: "a7e7e8d6-0bf7-4ac9-8170-831b47ee2ba9",
        address: "192.168.40.33",
        protocol_port: 80,
        subnet_id: SUBNET_OF_ROUTER,
        instance_id: null,
        weight: 1,
        monitor_address: null,
        monitor_port: null,
        backup: false,
        admin_state_up: true,
        operating_status: "NO_MONITOR",
        provisioning_status: "ACTIVE",
      },
    ],
  }),
  pool({
    id: "9fccf0a3-c0de-441d-9afd-2b9b58b08ba0",
    name: "my_other_pool",
    ...PROJECT_B,
    members: [],
  }),
];
