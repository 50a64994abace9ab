import { hashApiKey } from "../authentication.ts";
import type { PoolRecord, State } from "../state/state.ts";
import { builtInAiTasks } from "./ai-tasks.ts";
import { builtInCompute } from "./compute.ts";
import { builtInNetworks, PROJECT_A, PROJECT_B, SUBNET_OF_ROUTER } from "./networks.ts";
import { builtInClusters, builtInPrices } from "./prices.ts";

/**
 * Keys that open the built-in world and nothing else; the service listens on this machine only. The
 * second one belongs to another client with an empty project, to see that clients are kept apart.
 */
export const BUILT_IN_API_KEYS = {
  first: "2001_5eed0c0de5eed0c0de5eed0c0de00001",
  second: "2002_5eed0c0de5eed0c0de5eed0c0de00002",
} as const;

const builtInKeys = (): State["keys"] => [
  {
    id: "2001",
    sha256: hashApiKey(BUILT_IN_API_KEYS.first),
    client_id: 1,
    user_id: 11,
    project_ids: [PROJECT_A.project_id, PROJECT_B.project_id],
    revoked: false,
  },
  {
    id: "2002",
    sha256: hashApiKey(BUILT_IN_API_KEYS.second),
    client_id: 2,
    user_id: 12,
    project_ids: [1337],
    revoked: false,
  },
];

const builtInPolicies = (): State["lifecycle_policies"] => [
  {
    id: 1,
    name: "schedule_1",
    action: "volume_snapshot",
    ...PROJECT_A,
    status: "active",
    user_id: 11,
    schedules: [
      {
        id: "1488e2ce-f906-47fb-ba32-c25a3f63df4f",
        type: "cron",
        max_quantity: 2,
        owner: "lifecycle_policy",
        owner_id: 1,
        user_id: 11,
        resource_name_template: "snapshot of {volume_id}",
        retention_time: { weeks: 1, days: null, hours: null, minutes: null },
        timezone: "Europe/Luxembourg",
        day: null,
        day_of_week: "mon,fri",
        hour: "0, 20",
        minute: "30",
        month: null,
        week: null,
      },
      {
        id: "1488e2ce-f906-47fb-ba32-c25a3f63df50",
        type: "interval",
        max_quantity: 2,
        owner: "lifecycle_policy",
        owner_id: 1,
        user_id: 11,
        resource_name_template: "snapshot of {volume_id}",
        retention_time: null,
        weeks: null,
        days: null,
        hours: 2,
        minutes: 1,
      },
    ],
    volumes: [
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df4f", volume_name: "my-volume" },
      { volume_id: "3ed9e2ce-f906-47fb-ba32-c25a3f63df50", volume_name: "my-other-volume" },
    ],
  },
  {
    id: 2,
    name: "schedule_2",
    action: "volume_snapshot",
    ...PROJECT_B,
    status: "paused",
    user_id: 11,
    schedules: [],
    volumes: [],
  },
];

const builtInPool = (
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

const builtInPools = (): State["load_balancer_pools"] => [
  builtInPool({
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
  builtInPool({
    id: "9fccf0a3-c0de-441d-9afd-2b9b58b08ba0",
    name: "my_other_pool",
    ...PROJECT_B,
    members: [],
  }),
];

const builtInTasks = (): State["tasks"] => [
  {
    id: "d478ae29-dedc-4869-82f0-96104425f565",
    task_type: "create_router",
    state: "FINISHED",
    created_on: "2025-11-03T08:15:00.000Z",
    updated_on: "2025-11-03T08:15:08.000Z",
    finished_on: "2025-11-03T08:15:08.000Z",
    error: null,
    created_resources: { routers: ["da5b9588-cecc-4111-a318-3ad04da05900"] },
    ...PROJECT_A,
    user_id: 11,
    client_id: 1,
    user_client_id: 1,
    data: { name: "my_wonderful_router" },
    detailed_state: null,
    request_id: null,
    job_id: null,
    lifecycle_policy_id: null,
    schedule_id: null,
    acknowledged_at: null,
    acknowledged_by: null,
    plan: null,
  },
];

/** The world that the service starts with. The first record of each list is not locked. */
export const builtInState = (): State => ({
  keys: builtInKeys(),
  ...builtInNetworks(),
  ...builtInCompute(),
  ...builtInClusters(),
  prices: builtInPrices(),
  ai_tasks: builtInAiTasks(),
  lifecycle_policies: builtInPolicies(),
  load_balancer_pools: builtInPools(),
  tasks: builtInTasks(),
  storage_events: [
    {
      client_id: 1,
      uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e01",
      name: "reaching_used_space",
      storage_name: "my-storage-prod",
      bucket_name: "my-bucket",
      bytes: "500",
    },
    {
      client_id: 1,
      uuid: "4b8e0c52-7d0a-4f0e-9a55-0c7f6f1d2e02",
      name: "reaching_files_quantity",
      storage_name: "my-storage-prod",
      bucket_name: "my-bucket",
      count: "5",
    },
  ],
});
