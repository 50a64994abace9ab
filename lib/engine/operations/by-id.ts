import { createRouter } from "./create-router.ts";
import { createStorageEvent } from "./create-storage-event.ts";
import { followTask } from "./follow-task.ts";
import type { CommandOperation } from "./operation.ts";
import { removePolicyVolumes } from "./remove-policy-volumes.ts";
import { resumeInstance } from "./resume-instance.ts";
import { updateContainer } from "./update-container.ts";
import { updatePolicy } from "./update-policy.ts";
import { updatePool } from "./update-pool.ts";
import { updateStorageEvent } from "./update-storage-event.ts";

const COMMAND_OPERATIONS = [
  updateContainer,
  resumeInstance,
  removePolicyVolumes,
  updatePolicy,
  updatePool,
  updateStorageEvent,
  createRouter,
  createStorageEvent,
  followTask,
];

/** @throws Error for an id that no command in the ledger can have */
export const commandOperation = (id: string): CommandOperation => {
  const found = COMMAND_OPERATIONS.find(({ operation }) => operation.id === id);
  if (!found) throw new Error(`no mutating operation ${id}`);
  return found;
};
