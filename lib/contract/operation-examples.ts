import type { COMMANDED_IDS } from "./operations.ts";

interface ExampleRequest {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, boolean>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

const PLACE = { project_id: 1234567, region_id: 76 };
const BUCKET = { storage_name: "my-storage-prod", bucket_name: "my-bucket" };

/**
 * A valid request of each operation, on resources that the built-in state of the service has. Kept out of the
 * declarations, which functions bundle.
 */
export const OPERATION_EXAMPLES: Readonly<Record<(typeof COMMANDED_IDS)[number], ExampleRequest>> =
  {
    "update-container": {
      params: { ...PLACE, container_name: "my-container" },
      body: { description: "storefront", scale: { min: 1, max: 5, cooldown_period: 60 } },
    },
    "resume-instance": {
      params: { ...PLACE, instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476" },
    },
    "remove-policy-volumes": {
      params: { ...PLACE, policy_id: 1 },
      body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df50"] },
    },
    "update-policy": {
      params: { ...PLACE, policy_id: 1 },
      body: { status: "paused" },
    },
    "update-pool": {
      params: { ...PLACE, pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f" },
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
    "follow-task": { params: { task_id: "d478ae29-dedc-4869-82f0-96104425f565" } },
  };
