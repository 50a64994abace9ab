import type { MutationId } from "../contract/operations.ts";

/** How a demo command is expected to end. */
type ExpectedEnd =
  | { readonly status: "succeeded"; readonly outcome: "done" | "no-op" }
  | { readonly status: "failed"; readonly reason: string }
  | { readonly status: "rejected"; readonly reason: string };

export interface DemoCommand {
  /** The same in every run: with a data directory, a second run is a repeat and runs nothing again. */
  readonly id: string;
  readonly operation: MutationId;
  readonly params: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly expect: ExpectedEnd;
}

const PLACE = { project_id: 1234567, region_id: 76 };
const CONTAINER = { ...PLACE, container_name: "my-container" };
const POOL = { ...PLACE, pool_id: "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f" };
const POLICY = { ...PLACE, policy_id: 1 };
const EVENT = { storage_name: "my-storage-prod", bucket_name: "my-bucket" };
const done = { status: "succeeded", outcome: "done" } as const;

/**
 * Every mutating operation once on built-in resources; two commands on one container at once; a task
 * that fails for a cause in its world; an update that changes nothing; a command that is invalid.
 */
export const DEMO_COMMANDS: readonly DemoCommand[] = [
  {
    id: "demo-scale-container",
    operation: "update-container",
    params: CONTAINER,
    body: { scale: { min: 1, max: 5 }, description: "scaled by the demo" },
    expect: done,
  },
  {
    id: "demo-disable-container",
    operation: "update-container",
    params: CONTAINER,
    body: { is_disabled: true },
    expect: done,
  },
  {
    id: "demo-resume-instance",
    operation: "resume-instance",
    params: { ...PLACE, instance_id: "6c6aa80f-7836-4dc2-a2ae-125e248be476" },
    expect: done,
  },
  {
    id: "demo-detach-volume",
    operation: "remove-policy-volumes",
    params: POLICY,
    body: { volume_ids: ["3ed9e2ce-f906-47fb-ba32-c25a3f63df50"] },
    expect: done,
  },
  {
    id: "demo-pause-policy",
    operation: "update-policy",
    params: POLICY,
    body: { status: "paused" },
    expect: done,
  },
  {
    id: "demo-balance-pool",
    operation: "update-pool",
    params: POOL,
    body: { lb_algorithm: "LEAST_CONNECTIONS" },
    expect: done,
  },
  {
    id: "demo-balance-pool-again",
    operation: "update-pool",
    params: POOL,
    body: { lb_algorithm: "LEAST_CONNECTIONS" },
    expect: { status: "succeeded", outcome: "no-op" },
  },
  {
    id: "demo-raise-threshold",
    operation: "update-storage-event",
    params: {},
    body: { name: "reaching_used_space", ...EVENT, bytes: "18446744073709551615" },
    expect: done,
  },
  {
    id: "demo-create-router",
    operation: "create-router",
    params: PLACE,
    body: {
      name: "demo-router",
      external_gateway_info: { type: "default", enable_snat: true },
      interfaces: [{ type: "subnet", subnet_id: "7a1c2f90-2b1d-4c55-9a3e-0d5f6b7c8d01" }],
      routes: [{ destination: "10.0.9.0/24", nexthop: "10.0.0.13" }],
    },
    expect: done,
  },
  {
    id: "demo-create-threshold",
    operation: "create-storage-event",
    params: {},
    body: { name: "reaching_used_requests", ...EVENT, count: "1000000" },
    expect: done,
  },
  {
    id: "demo-unreachable-registry",
    operation: "update-container",
    params: { project_id: 1186668, region_id: 148, container_name: "my-nginx" },
    body: { image: "registry.invalid/team/app:1.0" },
    expect: { status: "failed", reason: "task-failed" },
  },
  {
    id: "demo-invalid-port",
    operation: "update-container",
    params: CONTAINER,
    body: { listening_port: 70_000, colour: "red" },
    expect: { status: "rejected", reason: "invalid" },
  },
];
