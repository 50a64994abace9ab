import type { AccountsConfig } from "../../lib/provider/accounts-config.ts";
import { toAccountsConfig } from "../../lib/provider/accounts-config.ts";

/** Details of `CommandRequested` events. */

/** The account `local`, with all rights for these AWS accounts and our own. */
export const shared = (...senders: readonly string[]): AccountsConfig =>
  toAccountsConfig({ accounts: [{ name: "local", senders: ["own", ...senders] }] });

export const PLACE = { project_id: 1234567, region_id: 76 };
export const SUBNET = "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01";
const POOL = "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
export const SUSPENDED_INSTANCE = "6c6aa80f-7836-4dc2-a2ae-125e248be476";

type Fields = Readonly<Record<string, unknown>>;

/** A request with a command id. @param data and `metadata` override the defaults */
export const requestOf = (commandId: string, data: Fields, metadata: Fields = {}) => ({
  metadata: { id: `event-${commandId}`, commandId, ...metadata },
  data,
});

export const updateContainer = (commandId: string, body: Fields = {}, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "update-container",
    params: { ...PLACE, container_name: "my-container" },
    body: { description: commandId, ...body },
    ...data,
  });

export const resumeInstance = (commandId: string, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "resume-instance",
    params: { ...PLACE, instance_id: SUSPENDED_INSTANCE },
    ...data,
  });

export const updatePolicy = (commandId: string, body: Fields = { status: "paused" }) =>
  requestOf(commandId, {
    operation: "update-policy",
    params: { ...PLACE, policy_id: 1 },
    body,
  });

/** A command that takes effect at once. */
export const updatePolicyWith = (commandId: string, data: Fields) =>
  requestOf(commandId, {
    operation: "update-policy",
    params: { ...PLACE, policy_id: 1 },
    body: { status: "paused" },
    ...data,
  });

export const removeVolumes = (commandId: string, volumeIds: readonly string[]) =>
  requestOf(commandId, {
    operation: "remove-policy-volumes",
    params: { ...PLACE, policy_id: 1 },
    body: { volume_ids: volumeIds },
  });

export const updatePool = (commandId: string, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "update-pool",
    params: { ...PLACE, pool_id: POOL },
    body: { name: "renamed_pool" },
    ...data,
  });

export const createRouter = (commandId: string, body: Fields = {}, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "create-router",
    params: PLACE,
    body: { name: "new_router", ...body },
    ...data,
  });

const EVENT = { name: "reaching_used_space", storage_name: "s", bucket_name: "b", bytes: "700" };

export const createEvent = (commandId: string, body: Fields = {}, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "create-storage-event",
    body: { ...EVENT, ...body },
    ...data,
  });

export const updateEvent = (commandId: string, body: Fields = {}, data: Fields = {}) =>
  requestOf(commandId, {
    operation: "update-storage-event",
    body: { ...EVENT, ...body },
    ...data,
  });
