import type { MutationId } from "../../contract/operations.ts";

type Params = Readonly<Record<string, string | number>>;

export interface DemoCommand {
  /** The same in every run, so that a second run with a data directory runs no command again. */
  readonly id: string;
  readonly operation: MutationId;
  readonly params: Params;
  readonly body?: unknown;
  /** Its expected end: status, and outcome or reason. */
  readonly expected: string;
}

const PLACE = { project_id: 1234567, region_id: 76 };
const CONTAINER = { ...PLACE, container_name: "my-container" };
const NGINX = { project_id: 1186668, region_id: 148, container_name: "my-nginx" };
const INSTANCE = { ...PLACE, instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476" };
const POOL = { ...PLACE, pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f" };
const POLICY = { ...PLACE, policy_id: 1 };
const BUCKET = { storage_name: "my-storage-prod", bucket_name: "my-bucket" };
const SPACE_EVENT = { name: "reaching_used_space", ...BUCKET, bytes: "18446744073709551615" };
const REQUESTS_EVENT = { name: "reaching_used_requests", ...BUCKET, count: "1000000" };
const SCALE = { scale: { min: 1, max: 5 }, description: "scaled by the demo" };
const NO_IMAGE = { image: "registry.invalid/team/app:1.0" };
const INVALID = { listening_port: 70_000, colour: "red" };
const SPREAD = { lb_algorithm: "LEAST_CONNECTIONS" };
const VOLUMES = { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df50"] };
const ROUTER = {
  name: "demo-router",
  external_gateway_info: { type: "default", enable_snat: true },
  interfaces: [{ type: "subnet", subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }],
  routes: [{ destination: "10.0.9.0/24", nexthop: "10.0.0.13" }],
};

const command = (
  id: string,
  operation: MutationId,
  params: Params,
  body?: unknown,
  expected = "succeeded: done",
): DemoCommand => ({ id: `demo-${id}`, operation, params, body, expected });

/**
 * Every mutation once on built-in resources; two commands on one container at once; a task that fails; an update
 * that changes nothing; an invalid command.
 */
export const DEMO_COMMANDS: readonly DemoCommand[] = [
  command("scale-container", "update-container", CONTAINER, SCALE),
  command("disable-container", "update-container", CONTAINER, { is_disabled: true }),
  command("resume-instance", "resume-instance", INSTANCE),
  command("detach-volume", "remove-policy-volumes", POLICY, VOLUMES),
  command("pause-policy", "update-policy", POLICY, { status: "paused" }),
  command("balance-pool", "update-pool", POOL, SPREAD),
  command("balance-pool-again", "update-pool", POOL, SPREAD, "succeeded: no-op"),
  command("raise-threshold", "update-storage-event", {}, SPACE_EVENT),
  command("create-router", "create-router", PLACE, ROUTER),
  command("create-threshold", "create-storage-event", {}, REQUESTS_EVENT),
  command("unreachable-registry", "update-container", NGINX, NO_IMAGE, "failed: task-failed"),
  command("invalid-port", "update-container", CONTAINER, INVALID, "rejected: invalid"),
];
