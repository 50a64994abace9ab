import * as z from "zod";
import { aiTaskRecord } from "./ai-tasks.ts";
import { containerRecord } from "./containers.ts";
import { instanceRecord } from "./instances.ts";
import { policyRecord } from "./lifecycle-policies.ts";
import { poolRecord } from "./load-balancer-pools.ts";
import { floatingIpRecord, networkRecord } from "./networks.ts";
import { gpuClusterRecord, k8sClusterRecord, priceListRecord } from "./prices.ts";
import { routerRecord } from "./routers.ts";
import { storageEventRecord } from "./storage-events.ts";
import { taskRecord } from "./tasks.ts";

/** An API key as the provider knows it: never the key, only its SHA-256 in lower-case hex. */
const keyRecord = z.strictObject({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: "SHA-256 of a key in lower-case hex" }),
  client_id: z.int(),
  user_id: z.int(),
  project_ids: z.array(z.int()),
  revoked: z.boolean(),
});

const areDifferent = (keys: readonly { readonly sha256: string }[]): boolean =>
  new Set(keys.map(({ sha256 }) => sha256)).size === keys.length;

/** The provider's whole world: one list of full records per kind. */
export const stateSchema = z.strictObject({
  keys: z.array(keyRecord).refine(areDifferent, { error: "one key cannot be two" }),
  containers: z.array(containerRecord),
  instances: z.array(instanceRecord),
  lifecycle_policies: z.array(policyRecord),
  load_balancer_pools: z.array(poolRecord),
  routers: z.array(routerRecord),
  floating_ips: z.array(floatingIpRecord),
  networks: z.array(networkRecord),
  k8s_clusters: z.array(k8sClusterRecord),
  gpu_clusters: z.array(gpuClusterRecord),
  ai_tasks: z.array(aiTaskRecord),
  storage_events: z.array(storageEventRecord),
  tasks: z.array(taskRecord),
  prices: z.array(priceListRecord),
});

export type State = z.output<typeof stateSchema>;
export type CollectionName = keyof State;
export type RecordOf<C extends CollectionName> = State[C][number];

export type KeyRecord = RecordOf<"keys">;
export type ContainerRecord = RecordOf<"containers">;
export type InstanceRecord = RecordOf<"instances">;
export type PolicyRecord = RecordOf<"lifecycle_policies">;
export type PoolRecord = RecordOf<"load_balancer_pools">;
export type MemberRecord = PoolRecord["members"][number];
export type RouterRecord = RecordOf<"routers">;
export type NetworkRecord = RecordOf<"networks">;
export type SubnetRecord = NetworkRecord["subnets"][number];
export type StorageEventRecord = RecordOf<"storage_events">;
export type AiTaskRecord = RecordOf<"ai_tasks">;
export type TaskRecord = RecordOf<"tasks">;
export type PriceListRecord = RecordOf<"prices">;
