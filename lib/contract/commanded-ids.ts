/**
 * Ids of the operations that a command may name, as in `COMMANDED`, for those that need no schema
 * of them: making all the schemas takes a tenth of the time that a bundle of Lambda takes to load.
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
