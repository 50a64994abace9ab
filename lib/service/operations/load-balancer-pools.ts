import { isDeepStrictEqual } from "node:util";
import { getPool, poolUpdateSchema, updatePool } from "../../contract/load-balancer-pools.ts";
import { problemsOf } from "../../contract/problem.ts";
import { conflict, invalid } from "../errors.ts";
import { requireOwned } from "../ownership.ts";
import { mutationRoute, readRoute } from "../routing.ts";
import type { PoolRecord } from "../state/state.ts";
import type { Work } from "../state/tasks.ts";
import { startTask, type TaskEnd, type WorkContext } from "../task-engine.ts";
import { applyPoolUpdate, memberAddress, type PoolUpdate } from "./pool-update.ts";

type PoolWork = Extract<Work, { kind: "update-pool" }>;

export const getPoolRoute = readRoute(getPool, ({ params, records, caller }) =>
  requireOwned(records.get("load_balancer_pools", params.pool_id), params, caller, "pool"),
);

/** Address and port are a member's identity, so a list with the same pair twice has no meaning. */
const refuseRepeatedMembers = ({ members }: PoolUpdate): void => {
  const seen = new Set<string>();
  for (const [index, member] of (members ?? []).entries()) {
    const address = memberAddress(member);
    if (seen.has(address)) {
      throw invalid({ [`members.${index}`]: ["repeats the address and protocol_port of another"] });
    }
    seen.add(address);
  }
};

/** The type that a monitor keeps may not take what the update gives. */
const refuseMonitorOfOtherType = ({ healthmonitor }: PoolRecord): void => {
  const { error } = poolUpdateSchema.safeParse({ healthmonitor });
  const problems = problemsOf(error?.issues ?? []);
  if (problems.length === 0) return;
  throw invalid(Object.fromEntries(problems.map(({ path, rule }) => [path, [rule]])));
};

/**
 * Accepts the change and locks the pool; its settings change only when the task has finished. A lock
 * is answered before anything else about the pool's state: what would be equal now may differ then.
 */
export const updatePoolRoute = mutationRoute(updatePool, (call) => {
  const { params, body, records, caller, newId } = call;
  refuseRepeatedMembers(body);
  const found = records.get("load_balancer_pools", params.pool_id);
  const pool = requireOwned(found, params, caller, "pool");
  if (pool.task_id !== null) throw conflict("a running task holds the pool");
  const updated = applyPoolUpdate(pool, body, newId);
  if (body.healthmonitor) refuseMonitorOfOtherType(updated);
  if (isDeepStrictEqual(updated, pool)) return { tasks: [] };

  const taskId = startTask(call, {
    taskType: "patch_lbpool",
    projectId: params.project_id,
    regionId: params.region_id,
    data: { pool_id: pool.id, ...body },
    work: { kind: "update-pool", pool_id: pool.id, update: body },
  });
  records.put("load_balancer_pools", {
    ...pool,
    task_id: taskId,
    provisioning_status: "PENDING_UPDATE",
  });
  return { tasks: [taskId] };
});

/**
 * The first subnet or instance of the new members that this project and region do not have. Secrets
 * are not checked: the service has no operation that knows them.
 */
const findMissing = (update: PoolUpdate, { records, task }: WorkContext): string | undefined => {
  const isHere = (place: { project_id: number; region_id: number } | undefined) =>
    place?.project_id === task.project_id && place.region_id === task.region_id;
  const subnetIds = records
    .list("networks")
    .flatMap((network) => (isHere(network) ? network.subnets : []))
    .map(({ id }) => id);

  for (const { subnet_id, instance_id } of update.members ?? []) {
    if (subnet_id && !subnetIds.includes(subnet_id)) return `subnet ${subnet_id}`;
    if (instance_id && !isHere(records.get("instances", instance_id))) {
      return `instance ${instance_id}`;
    }
  }
  return undefined;
};

/** The end of `patch_lbpool`: the change is made whole or, when something is missing, not at all. */
export const finishPoolUpdate = (work: PoolWork, context: WorkContext): TaskEnd => {
  const { records, newId } = context;
  const pool = records.get("load_balancer_pools", work.pool_id);
  if (pool === undefined) return { kind: "failed", error: "the pool is gone" };

  const missing = findMissing(work.update, context);
  const next = missing === undefined ? applyPoolUpdate(pool, work.update, newId) : pool;
  records.put("load_balancer_pools", { ...next, task_id: null, provisioning_status: "ACTIVE" });
  if (missing !== undefined) return { kind: "failed", error: `${missing} does not exist` };

  const before = pool.members.map(({ id }) => id);
  const members = next.members.map(({ id }) => id).filter((id) => !before.includes(id));
  return { kind: "finished", createdResources: members.length > 0 ? { members } : null };
};
