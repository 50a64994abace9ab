import { updateContainer } from "./containers.ts";
import { resumeInstance } from "./instances.ts";
import { removePolicyVolumes, updatePolicy } from "./lifecycle-policies.ts";
import { updatePool } from "./load-balancer-pools.ts";
import { createRouter } from "./routers.ts";
import { createStorageEvent, updateStorageEvent } from "./storage-events.ts";

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

export type MutationId = (typeof MUTATIONS)[number]["id"];
