import { expect, test } from "vitest";
import type { Read } from "../../../lib/contract/operation.ts";
import { READS } from "../../../lib/contract/operations.ts";
import type { OperationRequest } from "../../../lib/provider/client.ts";
import { createClient } from "../../../lib/provider/client.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { startService } from "../service/harness.ts";

const AT = { project_id: 1234567, region_id: 76 };

type Request = Partial<OperationRequest<Read>>;

/** A request of each read, and a part of its decoded reply. */
const REQUESTS: { readonly [Id in (typeof READS)[number]["id"]]: readonly [Request, object] } = {
  "list-ai-tasks": [
    { query: { status: "SUCCESS", limit: 1 } },
    { next: expect.stringContaining("page=2"), results: [{ status: "SUCCESS", progress: 100 }] },
  ],
  "preview-instance-price": [
    {
      params: AT,
      body: { flavor: "g1-standard-1-2", interfaces: [{ type: "external" }], names: ["a", "b"] },
    },
    { currency_code: "EUR", vm_count: 2, per_hour: { flavor: 0.04 } },
  ],
  "get-k8s-cluster-price": [
    { params: { ...AT, cluster_name: "my-cluster" } },
    { total_price: { price_status: "show" }, instances: expect.any(Array) },
  ],
  "get-ddos-price": [{ params: { region_id: 76 } }, { price: { period: "day" } }],
  "get-gpu-cluster-price": [
    { params: { ...AT, server_id: "f1c1eeb6-1834-48c9-a7b0-daafce64872b" } },
    { price_status: "show", price_per_hour: expect.any(Number) },
  ],
  "get-floating-ip-tag": [
    {
      params: { ...AT, floating_ip_id: "c64e5db1-5f1f-43ec-a8d9-5090df85b82d" },
      query: { key: "my-tag" },
    },
    { key: "my-tag", value: "my-tag-value", read_only: true },
  ],
  "get-network-tag": [
    {
      params: { ...AT, network_id: "b39792c3-3160-4356-912e-ba396c95cdcf" },
      query: { key: "cost-center" },
    },
    { key: "cost-center", value: "platform", read_only: false },
  ],
  "get-task": [
    { params: { task_id: "d478ae29-dedc-4869-82f0-96104425f565" } },
    { state: "FINISHED", task_type: "create_router" },
  ],
  "list-tasks": [{ query: { state: ["FINISHED", "ERROR"] } }, { count: 1 }],
  "get-container": [{ params: { ...AT, container_name: "my-container" } }, { timeout: 120 }],
  "get-instance": [
    { params: { ...AT, instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476" } },
    { status: "SUSPENDED", ddos_profile: null },
  ],
  "get-policy": [
    { params: { ...AT, policy_id: 1 }, query: { need_volumes: true } },
    { status: "active", volumes: [{}, {}] },
  ],
  "get-pool": [
    { params: { ...AT, pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f" } },
    { name: "my_pool", task_id: null },
  ],
  "get-router": [
    { params: { ...AT, router_id: "da5b9588-cecc-4111-a318-3ad04da05900" } },
    { name: "my_wonderful_router" },
  ],
  "list-storage-events": [{}, { reaching_used_space: [{ bytes: "500" }] }],
  "list-storage-event-types": [{}, { structure: expect.any(Array) }],
};

test.each(READS.map((operation) => [operation.id, operation] as const))(
  "%s: the client decodes the reply of the service",
  async (id, operation: Read) => {
    const { service } = await startService();
    const client = createClient({
      baseUrl: "http://service.test",
      apiKey: async () => BUILT_IN_API_KEYS.first,
      fetch: service.fetch,
      clock: createVirtualClock(),
      attemptTimeoutMs: 1_000,
      paths: {},
    });
    const [request, expected] = REQUESTS[id];

    const reply = await client.call(operation, {
      params: {},
      query: {},
      body: undefined,
      ...request,
    });

    expect(reply).toMatchObject(expected);
  },
);
