import type { CollectionName, RecordOf } from "./state/state.ts";

interface Named {
  readonly project_id: number;
  readonly region_id: number;
  readonly name: string;
}

/** The name of a container or a cluster is its only identifier, within its project and region. */
export const namedKey = ({ project_id, region_id, name }: Named): string =>
  JSON.stringify([project_id, region_id, name]);

/** An event's identity is client, name, storage and bucket; the uuid is only a label. */
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

/** What each record is found by. */
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

/** The text that a record of a collection is stored and found by. */
export const keyOf = <C extends CollectionName>(collection: C, record: RecordOf<C>): string =>
  KEY_OF[collection](record);
