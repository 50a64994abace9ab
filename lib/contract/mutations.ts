import { updateContainer } from "./containers.ts";
import { resumeInstance } from "./instances.ts";
import { removePolicyVolumes, updatePolicy } from "./lifecycle-policies.ts";
import { updatePool } from "./load-balancer-pools.ts";
import { createRouter } from "./routers.ts";
import { createStorageEvent, updateStorageEvent } from "./storage-events.ts";
import { followTask } from "./tasks.ts";

/** The mutating operations of the interface, in the order of its document. */
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

/** The operations that a command may name. */
export const COMMANDED = [...MUTATIONS, followTask] as const;
