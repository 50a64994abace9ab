import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import type { World } from "./random-request.ts";

/** All values of the state by field name. */
const collect = (value: unknown, name: string, into: Map<string, unknown[]>): void => {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, name, into);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) collect(inner, key, into);
  } else {
    into.set(name, [...new Set([...(into.get(name) ?? []), value])]);
  }
};

/** The built-in state as path parameters and field values for requests. */
export const builtInWorld = (components: World["components"]): World => {
  const state = builtInState();
  const known = new Map<string, unknown[]>();
  collect(state, "", known);
  known.set("flavor", [...(known.get("flavor") ?? []), "g1-standard-1-2"]);
  known.set("volume_ids", known.get("volume_id") ?? []);
  known.set(
    "instance_id",
    state.instances.map(({ id }) => id),
  );
  known.set(
    "subnet_id",
    state.networks.flatMap(({ subnets }) => subnets.map(({ id }) => id)),
  );
  known.set(
    "network_id",
    state.networks.map(({ id }) => id),
  );

  const locate = <R extends { readonly project_id: number; readonly region_id: number }>(
    records: readonly R[],
    name: string,
    idOf: (record: R) => unknown,
  ) =>
    records.map((record) => ({
      project_id: record.project_id,
      region_id: record.region_id,
      [name]: idOf(record),
    }));

  return {
    components,
    known,
    apiKey: BUILT_IN_API_KEYS.first,
    targets: state.storage_events.map(({ name, storage_name, bucket_name }) => ({
      name,
      storage_name,
      bucket_name,
    })),
    places: [
      ...locate(state.containers, "container_name", ({ name }) => name),
      ...locate(state.instances, "instance_id", ({ id }) => id),
      ...locate(state.lifecycle_policies, "policy_id", ({ id }) => id),
      ...locate(state.load_balancer_pools, "pool_id", ({ id }) => id),
      ...locate(state.routers, "router_id", ({ id }) => id),
      ...locate(state.floating_ips, "floating_ip_id", ({ id }) => id),
      ...locate(state.networks, "network_id", ({ id }) => id),
      ...locate(state.k8s_clusters, "cluster_name", ({ name }) => name),
      ...locate(state.gpu_clusters, "server_id", ({ server_id }) => server_id),
      ...locate(state.tasks, "task_id", ({ id }) => id),
    ],
  };
};
