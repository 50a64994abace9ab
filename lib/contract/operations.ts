import { listAiTasks } from "./ai-tasks.ts";
import { getContainer, updateContainer } from "./containers.ts";
import { previewInstancePrice } from "./instance-price.ts";
import { getInstance, resumeInstance } from "./instances.ts";
import { getPolicy, removePolicyVolumes, updatePolicy } from "./lifecycle-policies.ts";
import { getPool, updatePool } from "./load-balancer-pools.ts";
import type { Mutation } from "./operation.ts";
import { getDdosPrice, getGpuClusterPrice, getK8sClusterPrice } from "./prices.ts";
import { createRouter, getRouter } from "./routers.ts";
import {
  createStorageEvent,
  deleteStorageEvent,
  listStorageEvents,
  listStorageEventTypes,
  updateStorageEvent,
} from "./storage-events.ts";
import { getFloatingIpTag, getNetworkTag } from "./tags.ts";
import { followTask, getTask, listTasks } from "./tasks.ts";

/**
 * Ids of the operations that a command may name. A bundle that imports only the ids contains no schema;
 * building all schemas takes a tenth of a bundle's load time.
 */
export const COMMANDED_IDS = [
  "update-container",
  "resume-instance",
  "remove-policy-volumes",
  "update-policy",
  "update-pool",
  "update-storage-event",
  "create-router",
  "create-storage-event",
  "follow-task",
] as const;

/** The mutating operations of the interface, in the order of the document. */
export const MUTATIONS = [
  updateContainer,
  resumeInstance,
  removePolicyVolumes,
  updatePolicy,
  updatePool,
  updateStorageEvent,
  createRouter,
  createStorageEvent,
] as const;

export type MutationId = (typeof MUTATIONS)[number]["id"];

type OneForEach<Ids extends readonly string[]> = {
  readonly [Index in keyof Ids]: Mutation & { readonly id: Ids[Index] };
};

/** The operations that a command may name. */
export const COMMANDED = /* @__PURE__ */ (() =>
  [...MUTATIONS, followTask] as const satisfies OneForEach<typeof COMMANDED_IDS>)();

/**
 * Finds the operation of a command.
 * @throws Error for an id that no command may name
 */
export const commandedOperation = (id: string): Mutation => {
  const found = COMMANDED.find((operation) => operation.id === id);
  if (!found) throw new Error(`unknown command operation ${id}`);
  return found;
};

/** The document's reads in its order, then published reads that make changes visible. */
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

/** The whole interface. `delete-storage-event` is a mutation that no command may name yet. */
export const OPERATIONS = /* @__PURE__ */ (() =>
  [...MUTATIONS, ...READS, deleteStorageEvent] as const)();
