import { updateContainer } from "./containers.ts";
import { getInstance, resumeInstance } from "./instances.ts";
import { removePolicyVolumes, updatePolicy } from "./lifecycle-policies.ts";
import { getPool, updatePool } from "./load-balancer-pools.ts";
import { createRouter, getRouter } from "./routers.ts";
import { createStorageEvent, listStorageEvents, updateStorageEvent } from "./storage-events.ts";
import { getTask, listTasks } from "./tasks.ts";

/** The operations that a command may name, in the order of the interface document. */
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

const READS = [getTask, listTasks, getInstance, getPool, getRouter, listStorageEvents] as const;

export const OPERATIONS = [...MUTATIONS, ...READS] as const;

export type MutationId = (typeof MUTATIONS)[number]["id"];
