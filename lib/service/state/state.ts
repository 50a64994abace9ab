import * as z from "zod";
import { aiTaskRecord, builtInAiTasks } from "./ai-tasks.ts";
import { builtInContainers, containerRecord } from "./containers.ts";
import { builtInInstances, instanceRecord } from "./instances.ts";
import { builtInKeys, keyRecord } from "./keys.ts";
import { builtInPolicies, policyRecord } from "./lifecycle-policies.ts";
import { builtInPools, poolRecord } from "./load-balancer-pools.ts";
import {
  builtInFloatingIps,
  builtInNetworks,
  floatingIpRecord,
  networkRecord,
} from "./networks.ts";
import {
  builtInGpuClusters,
  builtInK8sClusters,
  builtInPrices,
  gpuClusterRecord,
  k8sClusterRecord,
  priceListRecord,
} from "./prices.ts";
import { builtInRouters, routerRecord } from "./routers.ts";
import { builtInStorageEvents, storageEventRecord } from "./storage-events.ts";
import { builtInTasks, taskRecord } from "./tasks.ts";

const areDifferent = (keys: readonly { readonly sha256: string }[]): boolean =>
  new Set(keys.map(({ sha256 }) => sha256)).size === keys.length;

/** The state of the provider: one list of complete records for each kind. */
export const stateSchema = z.strictObject({
  keys: z.array(keyRecord).refine(areDifferent, { error: "two keys have the same sha256" }),
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

export const COLLECTIONS = stateSchema.keyof().options;

export type State = z.output<typeof stateSchema>;
export type CollectionName = keyof State;
export type RecordOf<C extends CollectionName> = State[C][number];

/** State of a new service. The first record of each list is not locked. */
export const builtInState = (): State => ({
  keys: builtInKeys(),
  containers: builtInContainers(),
  instances: builtInInstances(),
  lifecycle_policies: builtInPolicies(),
  load_balancer_pools: builtInPools(),
  routers: builtInRouters(),
  networks: builtInNetworks(),
  floating_ips: builtInFloatingIps(),
  k8s_clusters: builtInK8sClusters(),
  gpu_clusters: builtInGpuClusters(),
  ai_tasks: builtInAiTasks(),
  storage_events: builtInStorageEvents(),
  tasks: builtInTasks(),
  prices: builtInPrices(),
});

interface Named {
  readonly project_id: number;
  readonly region_id: number;
  readonly name: string;
}

/** Key of a container or cluster, which is identified by project, region and name. */
export const namedKey = ({ project_id, region_id, name }: Named): string =>
  JSON.stringify([project_id, region_id, name]);

/** Key of a storage event. Its uuid does not identify it. */
export const storageEventKey = (
  event: Pick<RecordOf<"storage_events">, "client_id" | "name"> & {
    readonly storage_name?: string | undefined;
    readonly bucket_name?: string | undefined;
  },
): string =>
  JSON.stringify([
    event.client_id,
    event.name,
    event.storage_name ?? null,
    event.bucket_name ?? null,
  ]);

/** Beginning of the keys of a client's storage events with a name. */
export const storageEventPrefix = (
  event: Pick<RecordOf<"storage_events">, "client_id" | "name">,
): string => `${JSON.stringify([event.client_id, event.name]).slice(0, -1)},`;

const KEY_OF: { readonly [C in CollectionName]: (record: RecordOf<C>) => string } = {
  keys: ({ id }) => id,
  containers: namedKey,
  instances: ({ id }) => id,
  lifecycle_policies: ({ id }) => String(id),
  load_balancer_pools: ({ id }) => id,
  routers: ({ id }) => id,
  floating_ips: ({ id }) => id,
  networks: ({ id }) => id,
  k8s_clusters: namedKey,
  gpu_clusters: ({ server_id }) => server_id,
  ai_tasks: ({ task_id }) => task_id,
  storage_events: storageEventKey,
  tasks: ({ id }) => id,
  prices: ({ region_id, starts_at }) => JSON.stringify([region_id, starts_at]),
};

/** Key under which a record is stored. */
export const keyOf = <C extends CollectionName>(collection: C, record: RecordOf<C>): string =>
  KEY_OF[collection](record);
