import type { COMMANDED_IDS, OPERATIONS } from "./operations.ts";

interface ExampleRequest {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

const PLACE = { project_id: 1234567, region_id: 76 };
const BUCKET = { storage_name: "my-storage-prod", bucket_name: "my-bucket" };

const TASK = { task_id: "d478ae29-dedc-4869-82f0-96104425f565" };
const POLICY = { ...PLACE, policy_id: 1 };
const POOL = { ...PLACE, pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f" };
const INSTANCE = { ...PLACE, instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476" };
const CONTAINER = { ...PLACE, container_name: "my-container" };

type ExampleId = (typeof COMMANDED_IDS)[number] | (typeof OPERATIONS)[number]["id"];

/**
 * A valid request of each operation, on resources that the built-in state of the service has. Kept out of the
 * declarations, which functions bundle.
 */
export const OPERATION_EXAMPLES: Readonly<Record<ExampleId, ExampleRequest>> = {
  "update-container": {
    params: CONTAINER,
    body: { description: "storefront", scale: { min: 1, max: 5, cooldown_period: 60 } },
  },
  "resume-instance": { params: INSTANCE },
  "remove-policy-volumes": {
    params: POLICY,
    body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df50"] },
  },
  "update-policy": {
    params: POLICY,
    body: { status: "paused" },
  },
  "update-pool": {
    params: POOL,
    body: {
      lb_algorithm: "LEAST_CONNECTIONS",
      healthmonitor: { type: "HTTP", delay: 10, timeout: 5, max_retries: 3, url_path: "/health" },
    },
  },
  "update-storage-event": {
    body: { name: "reaching_used_space", ...BUCKET, bytes: "2000000000000" },
  },
  "create-router": {
    params: PLACE,
    body: {
      name: "my-router",
      external_gateway_info: { type: "default", enable_snat: true },
      interfaces: [{ type: "subnet", subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }],
      routes: [{ destination: "10.0.9.0/24", nexthop: "10.0.0.13" }],
    },
  },
  "create-storage-event": {
    body: { name: "reaching_used_requests", ...BUCKET, count: "1000000" },
  },
  "follow-task": { params: TASK },
  "delete-storage-event": { body: { name: "reaching_used_space", ...BUCKET } },
  "list-ai-tasks": {},
  "preview-instance-price": {
    params: PLACE,
    body: {
      flavor: "g1-standard-2-4",
      names: ["web-1", "web-2"],
      interfaces: [{ type: "external", interface_name: "eth0", ip_family: "ipv4" }],
      volumes: [{ source: "new-volume", type_name: "standard", size: 50 }],
    },
  },
  "get-k8s-cluster-price": { params: { ...PLACE, cluster_name: "my-cluster" } },
  "get-ddos-price": { params: { region_id: 76 } },
  "get-gpu-cluster-price": {
    params: { ...PLACE, server_id: "f1c1eeb6-1834-48c9-a7b0-daafce64872b" },
  },
  "get-floating-ip-tag": {
    params: { ...PLACE, floating_ip_id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82d" },
    query: { key: "my-tag" },
  },
  "get-network-tag": {
    params: { ...PLACE, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" },
    query: { key: "my-tag" },
  },
  "get-task": { params: TASK },
  "list-tasks": {},
  "get-container": { params: CONTAINER },
  "get-instance": { params: INSTANCE },
  "get-policy": { params: POLICY },
  "get-pool": { params: POOL },
  "get-router": { params: { ...PLACE, router_id: "da5b9588-cecc-4111-a318-3ad04da05900" } },
  "list-storage-events": {},
  "list-storage-event-types": {},
};

/**
 * Values of optional query parameters, the same for each operation. The examples above leave them out, because a
 * filter would hide records. Together they still find a record of the built-in state.
 */
export const OPTIONAL_QUERY_EXAMPLES: Readonly<Record<string, unknown>> = {
  client_id: 1,
  with_ddos: true,
  need_volumes: true,
  task_id: "aafe70c6-0000-4000-8000-327b65f76701",
  task_name: "transcription",
  status: "SUCCESS",
  date_created: "2025-11-01",
  ordering: "started_at",
  search: "transcription",
  page: 1,
  limit: 10,
  offset: 0,
  order_by: "desc",
  sorting: "desc",
  state: ["FINISHED", "ERROR"],
  project_id: [1234567],
  region_id: [76],
  task_type: "create_router",
  is_acknowledged: false,
  from_timestamp: "2025-11-01T00:00:00Z",
  to_timestamp: "2025-12-01T00:00:00Z",
};
