import { listAiTasks } from "./ai-tasks.ts";
import { getContainer } from "./containers.ts";
import { previewInstancePrice } from "./instance-price.ts";
import { getInstance } from "./instances.ts";
import { getPolicy } from "./lifecycle-policies.ts";
import { getPool } from "./load-balancer-pools.ts";
import { MUTATIONS } from "./mutations.ts";
import { getDdosPrice, getGpuClusterPrice, getK8sClusterPrice } from "./prices.ts";
import { getRouter } from "./routers.ts";
import { deleteStorageEvent, listStorageEvents, listStorageEventTypes } from "./storage-events.ts";
import { getFloatingIpTag, getNetworkTag } from "./tags.ts";
import { getTask, listTasks } from "./tasks.ts";

/** The document's reads in its order, then the neighbours that make changes visible. */
export const READS = [
  listAiTasks,
  previewInstancePrice,
  getK8sClusterPrice,
  getDdosPrice,
  getGpuClusterPrice,
  getFloatingIpTag,
  getNetworkTag,
  getTask,
  listTasks,
  getContainer,
  getInstance,
  getPolicy,
  getPool,
  getRouter,
  listStorageEvents,
  listStorageEventTypes,
] as const;

/** Everything that the interface has; a change that no command may name yet stands at the end. */
export const OPERATIONS = [...MUTATIONS, ...READS, deleteStorageEvent] as const;
