import { createHmac } from "node:crypto";
import { hashApiKey } from "../authentication.ts";
import type { KeyRecord, State } from "../state/state.ts";
import { builtInAiTasks } from "./ai-tasks.ts";
import { builtInContainers } from "./containers.ts";
import { builtInInstances } from "./instances.ts";
import { builtInPolicies } from "./lifecycle-policies.ts";
import { builtInPools } from "./load-balancer-pools.ts";
import { builtInNetworks } from "./networks.ts";
import { PROJECT_A, PROJECT_B } from "./places.ts";
import { builtInClusters, builtInPrices } from "./prices.ts";
import { builtInRouters } from "./routers.ts";
import { builtInStorageEvents } from "./storage-events.ts";
import { builtInTasks } from "./tasks.ts";

export interface BuiltInKeys {
  readonly first: string;
  /** Belongs to another client with an empty project, to see that clients are kept apart. */
  readonly second: string;
}

/**
 * Published keys. They open the built-in world of a run in memory, on this machine, and nothing else;
 * a run that keeps data has keys of its own in their place, `createBuiltInKeys`.
 */
export const BUILT_IN_API_KEYS = {
  first: "2001_5eed0c0de5eed0c0de5eed0c0de00001",
  second: "2002_5eed0c0de5eed0c0de5eed0c0de00002",
} as const satisfies BuiltInKeys;

/** Keys in the provider's form that only those can know who know the secret. */
export const createBuiltInKeys = (secret: string): BuiltInKeys => {
  const keyOf = (id: string): string => {
    const digest = createHmac("sha256", secret).update(`built-in API key ${id}`).digest("hex");
    return `${id}_${digest.slice(0, 32)}`;
  };
  return { first: keyOf("2001"), second: keyOf("2002") };
};

/** A stored key as it counts in this run: a published built-in one is replaced by the run's own. */
export const replaceBuiltInKey = (stored: KeyRecord, own: BuiltInKeys): KeyRecord => {
  if (stored.sha256 === hashApiKey(BUILT_IN_API_KEYS.first)) {
    return { ...stored, sha256: hashApiKey(own.first) };
  }
  return stored.sha256 === hashApiKey(BUILT_IN_API_KEYS.second)
    ? { ...stored, sha256: hashApiKey(own.second) }
    : stored;
};

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

/** The world that the service starts with. The first record of each list is not locked. */
export const builtInState = (): State => ({
  keys: builtInKeys(),
  containers: builtInContainers(),
  instances: builtInInstances(),
  lifecycle_policies: builtInPolicies(),
  load_balancer_pools: builtInPools(),
  routers: builtInRouters(),
  ...builtInNetworks(),
  ...builtInClusters(),
  ai_tasks: builtInAiTasks(),
  storage_events: builtInStorageEvents(),
  tasks: builtInTasks(),
  prices: builtInPrices(),
});
