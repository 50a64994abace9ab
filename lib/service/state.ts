import * as z from "zod";
import { containerUpdateSchema, loggingSchema, scaleSchema } from "../contract/containers.ts";
import { instanceSchema } from "../contract/instances.ts";
import { policySchema } from "../contract/lifecycle-policies.ts";
import {
  healthMonitorSchema,
  poolMemberSchema,
  poolSchema,
  poolUpdateSchema,
  sessionPersistenceSchema,
} from "../contract/load-balancer-pools.ts";
import { routerCreateSchema, routerSchema } from "../contract/routers.ts";
import { STORAGE_EVENT_NAMES } from "../contract/storage-events.ts";
import { createdResourcesSchema, TASK_STATES, taskSchema } from "../contract/tasks.ts";
import { uuid } from "../contract/values.ts";

const projectAndRegion = { project_id: z.int(), region_id: z.int() };
/** Kept as decimal text: JSON numbers of that size are not exact. */
const decimal = z.string().regex(/^(0|[1-9]\d{0,19})$/);

/** An API key as the provider knows it: never the key, only its SHA-256 in lower-case hex. */
const keySchema = z.strictObject({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  client_id: z.int(),
  user_id: z.int(),
  project_ids: z.array(z.int()),
  revoked: z.boolean(),
});

const regionSchema = z.strictObject({ id: z.int(), name: z.string() });
/** An image that the region's hosts can pull. */
const imageSchema = z.strictObject({ reference: z.string() });
/** A secret's content is nobody's business here: containers name it, pools give its id. */
const secretSchema = z.strictObject({ ...projectAndRegion, id: uuid, name: z.string() });

/** The published container record, with where it lives and the task that holds it (never shown). */
const containerSchema = z.strictObject({
  ...projectAndRegion,
  task_id: z.string().nullable(),
  name: z.string(),
  description: z.string(),
  image: z.string(),
  flavor: z.string(),
  source: z.enum(["cloud", "iate"]),
  namespace: z.string(),
  address: z.string(),
  status: z.string(),
  status_message: z.string().nullable(),
  commands: z.string().nullable(),
  listening_port: z.int(),
  timeout: z.int(),
  is_disabled: z.boolean(),
  is_api_key_auth: z.boolean(),
  envs: z.record(z.string(), z.string()),
  pull_secret: z.string().nullable(),
  scale: scaleSchema,
  deploy_status: z.strictObject({ total: z.int(), ready: z.int() }),
  logging: loggingSchema.nullable(),
  created_at: z.string(),
});

const policyRecordSchema = policySchema.extend({
  volumes: z.array(z.strictObject({ volume_id: z.string(), volume_name: z.string() })),
});

const memberSchema = poolMemberSchema.safeExtend({
  id: uuid,
  operating_status: z.string(),
  provisioning_status: z.string(),
});
const reference = z.strictObject({ id: z.string() });
const poolRecordSchema = poolSchema
  .extend({
    ...projectAndRegion,
    ...poolUpdateSchema
      .pick({ lb_algorithm: true, protocol: true, admin_state_up: true })
      .required().shape,
    healthmonitor: healthMonitorSchema.nullable(),
    session_persistence: sessionPersistenceSchema.nullable(),
    members: z.array(memberSchema),
    ca_secret_id: uuid.nullable(),
    crl_secret_id: uuid.nullable(),
    secret_id: uuid.nullable(),
    timeout_client_data: z.int().nullable(),
    timeout_member_connect: z.int().nullable(),
    timeout_member_data: z.int().nullable(),
    listeners: z.array(reference),
    loadbalancers: z.array(reference),
    creator_task_id: z.string().nullable(),
    operating_status: z.string(),
    provisioning_status: z.string(),
  })
  .strict();

const subnetSchema = z.strictObject({
  id: uuid,
  name: z.string(),
  cidr: z.string(),
  gateway_ip: z.string(),
});
/** An external network belongs to its region, not to a project. */
const networkSchema = z.strictObject({
  id: uuid,
  name: z.string(),
  project_id: z.int().nullable(),
  region_id: z.int(),
  external: z.boolean(),
  subnets: z.array(subnetSchema),
});

const ipAssignmentSchema = z.strictObject({ ip_address: z.string(), subnet_id: uuid });
const routerRecordSchema = routerSchema
  .extend({
    ...projectAndRegion,
    region: z.string(),
    status: z.string(),
    distributed: z.boolean(),
    interfaces: z.array(
      z.strictObject({
        port_id: uuid,
        network_id: uuid,
        ip_assignments: z.array(ipAssignmentSchema),
      }),
    ),
    external_gateway_info: z
      .strictObject({
        network_id: uuid,
        enable_snat: z.boolean(),
        external_fixed_ips: z.array(ipAssignmentSchema),
      })
      .nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    creator_task_id: z.string().nullable(),
  })
  .strict();

const storageEventRecordSchema = z.strictObject({
  client_id: z.int(),
  uuid: z.string(),
  name: z.enum(STORAGE_EVENT_NAMES),
  storage_name: z.string().optional(),
  bucket_name: z.string().optional(),
  bytes: decimal.optional(),
  count: decimal.optional(),
});

/** What a task does when it ends; gone once it has ended, so no variable or secret name outlives it. */
const workSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("update-container"),
    container_name: z.string(),
    update: containerUpdateSchema,
  }),
  z.strictObject({
    kind: z.literal("update-pool"),
    pool_id: z.string(),
    update: poolUpdateSchema,
  }),
  z.strictObject({ kind: z.literal("create-router"), router: routerCreateSchema }),
]);

/** The published task record; `plan` (instants in epoch milliseconds) is ours and never shown. */
const taskRecordSchema = taskSchema
  .extend({
    ...projectAndRegion,
    task_type: z.string(),
    state: z.enum(TASK_STATES),
    created_on: z.string(),
    updated_on: z.string().nullable(),
    finished_on: z.string().nullable(),
    error: z.string().nullable(),
    created_resources: createdResourcesSchema.nullable(),
    user_id: z.int(),
    client_id: z.int(),
    user_client_id: z.int(),
    data: z.record(z.string(), z.unknown()).nullable(),
    detailed_state: z.string().nullable(),
    request_id: z.string().nullable(),
    job_id: z.string().nullable(),
    lifecycle_policy_id: z.int().nullable(),
    schedule_id: z.string().nullable(),
    acknowledged_at: z.string().nullable(),
    acknowledged_by: z.int().nullable(),
    plan: z
      .strictObject({ startsAtMs: z.number(), endsAtMs: z.number(), work: workSchema })
      .nullable(),
  })
  .strict();

export type KeyRecord = z.output<typeof keySchema>;
export type ContainerRecord = z.output<typeof containerSchema>;
export type PoolRecord = z.output<typeof poolRecordSchema>;
export type MemberRecord = z.output<typeof memberSchema>;
export type NetworkRecord = z.output<typeof networkSchema>;
export type SubnetRecord = z.output<typeof subnetSchema>;
export type RouterRecord = z.output<typeof routerRecordSchema>;
export type StorageEventRecord = z.output<typeof storageEventRecordSchema>;
export type TaskRecord = z.output<typeof taskRecordSchema>;
export type Work = z.output<typeof workSchema>;

/** The provider's whole world: one list of full records per kind. */
export const stateSchema = z.strictObject({
  keys: z.array(keySchema),
  regions: z.array(regionSchema),
  containers: z.array(containerSchema),
  instances: z.array(instanceSchema),
  lifecycle_policies: z.array(policyRecordSchema),
  load_balancer_pools: z.array(poolRecordSchema),
  routers: z.array(routerRecordSchema),
  networks: z.array(networkSchema),
  storage_events: z.array(storageEventRecordSchema),
  tasks: z.array(taskRecordSchema),
  images: z.array(imageSchema),
  secrets: z.array(secretSchema),
});

export type State = z.output<typeof stateSchema>;
export type CollectionName = keyof State;
export type RecordOf<C extends CollectionName> = State[C][number];
