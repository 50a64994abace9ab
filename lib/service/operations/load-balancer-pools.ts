import { isDeepStrictEqual } from "node:util";
import { getPool, poolUpdateSchema, updatePool } from "../../contract/load-balancer-pools.ts";
import type { Body, Params } from "../../contract/operation.ts";
import { problemsOf } from "../../contract/problem.ts";
import { conflict, invalid, locked } from "../errors.ts";
import { requireOwned } from "../locations.ts";
import { type Call, route } from "../routing.ts";
import {
  type MemberRecord,
  type PoolRecord,
  toMonitorRecord,
} from "../state/load-balancer-pools.ts";
import type { Work } from "../state/tasks.ts";
import { type DoWork, startTask, TaskFailure, type WorkContext } from "../task-engine.ts";

type PoolUpdate = Body<typeof updatePool>;
type Monitor = PoolRecord["healthmonitor"];
type MemberInput = NonNullable<PoolUpdate["members"]>[number];

/** Null clears a field; only an omitted field keeps its value. */
const kept = <T>(given: T | undefined, current: T): T => (given === undefined ? current : given);

/**
 * The monitor after an update. The update replaces it as a whole, except for its id, and for its type if the
 * update has none: the published type is immutable.
 */
const monitorAfter = (
  given: PoolUpdate["healthmonitor"],
  current: Monitor,
  newId: () => string,
): Monitor => {
  if (given === undefined) return current;
  return (
    given &&
    toMonitorRecord({
      ...given,
      id: current?.id ?? newId(),
      type: given.type ?? current?.type,
    })
  );
};

const NOT_MONITORED = "NO_MONITOR";

/** A member that a monitor has not checked yet counts as ONLINE. */
const operatingStatus = (monitor: Monitor, current: string): string => {
  if (monitor === null) return NOT_MONITORED;
  return current === NOT_MONITORED ? "ONLINE" : current;
};

const NEW_MEMBER = {
  subnet_id: null,
  instance_id: null,
  weight: 1,
  monitor_address: null,
  monitor_port: null,
  backup: false,
  admin_state_up: true,
  provisioning_status: "ACTIVE",
};

/** Canonical spelling of an IPv6 address (RFC 5952), as URLs have it. */
const canonical = (address: string): string =>
  address.includes(":") ? new URL(`http://[${address}]`).hostname : address;

/** Identity of a member: address and port. The id in a request is ignored. */
const memberAddress = (member: Pick<MemberInput, "address" | "protocol_port">): string =>
  `${canonical(member.address)} ${member.protocol_port}`;

const toMembers = (
  given: readonly MemberInput[],
  current: readonly MemberRecord[],
  newId: () => string,
): MemberRecord[] => {
  const byAddress = new Map(current.map((member) => [memberAddress(member), member]));
  return given.map((member) => {
    const same = byAddress.get(memberAddress(member));
    return {
      ...NEW_MEMBER,
      ...member,
      address: same?.address ?? member.address,
      id: same?.id ?? newId(),
      operating_status: same?.operating_status ?? NOT_MONITORED,
      provisioning_status: same?.provisioning_status ?? NEW_MEMBER.provisioning_status,
    };
  });
};

/** The members after an update. An update without members and monitor leaves them unchanged. */
const membersAfter = (
  { members, healthmonitor }: PoolUpdate,
  pool: PoolRecord,
  monitor: Monitor,
  newId: () => string,
): MemberRecord[] => {
  if (members === undefined && healthmonitor === undefined) return pool.members;
  const listed =
    members === undefined ? pool.members : toMembers(members ?? [], pool.members, newId);
  return listed.map((member) => ({
    ...member,
    operating_status: operatingStatus(monitor, member.operating_status),
  }));
};

/**
 * The pool after an update. An omitted field keeps its value, and null clears it. Nested objects and the member
 * list are replaced as a whole. Members with a known address and port keep their ids.
 */
const applyPoolUpdate = (pool: PoolRecord, update: PoolUpdate, newId: () => string): PoolRecord => {
  const healthmonitor = monitorAfter(update.healthmonitor, pool.healthmonitor, newId);
  return {
    ...pool,
    name: kept(update.name, pool.name),
    lb_algorithm: kept(update.lb_algorithm, pool.lb_algorithm),
    protocol: kept(update.protocol, pool.protocol),
    admin_state_up: kept(update.admin_state_up, pool.admin_state_up),
    ca_secret_id: kept(update.ca_secret_id, pool.ca_secret_id),
    crl_secret_id: kept(update.crl_secret_id, pool.crl_secret_id),
    secret_id: kept(update.secret_id, pool.secret_id),
    session_persistence: kept(update.session_persistence, pool.session_persistence),
    timeout_client_data: kept(update.timeout_client_data, pool.timeout_client_data),
    timeout_member_connect: kept(update.timeout_member_connect, pool.timeout_member_connect),
    timeout_member_data: kept(update.timeout_member_data, pool.timeout_member_data),
    healthmonitor,
    members: membersAfter(update, pool, healthmonitor, newId),
  };
};

type PoolWork = Extract<Work, { kind: "update-pool" }>;

const requirePool = <Q, B>(call: Call<Params<typeof getPool>, Q, B>) =>
  requireOwned(call.records.get("load_balancer_pools", call.params.pool_id), call, "pool");

export const getPoolRoute = route(getPool, requirePool);

const refuseRepeatedMembers = ({ members }: PoolUpdate): void => {
  const seen = new Set<string>();
  for (const [index, member] of (members ?? []).entries()) {
    const address = memberAddress(member);
    if (seen.has(address)) {
      throw invalid({ [`members.${index}`]: ["duplicate address and protocol_port"] });
    }
    seen.add(address);
  }
};

/** Checks the resulting monitor: its type may come from the current one and not allow the fields of the update. */
const refuseMonitorOfOtherType = ({ healthmonitor }: PoolRecord): void => {
  const { error } = poolUpdateSchema().safeParse({ healthmonitor });
  const problems = problemsOf(error?.issues ?? []);
  if (problems.length === 0) return;
  throw invalid(Object.fromEntries(problems.map(({ path, rule }) => [path, [rule]])));
};

/**
 * Accepts the change and locks the pool; its settings change when the task ends. The lock is checked before a
 * no-op is recognised, because the running task may change the pool.
 */
export const updatePoolRoute = route(updatePool, (call) => {
  const { body, records, newId } = call;
  refuseRepeatedMembers(body);
  const pool = requirePool(call);
  if (pool.task_id !== null) throw conflict(locked("pool", pool.task_id));
  const updated = applyPoolUpdate(pool, body, newId);
  if (body.healthmonitor) refuseMonitorOfOtherType(updated);
  if (isDeepStrictEqual(updated, pool)) return { tasks: [] };

  const taskId = startTask(call, {
    taskType: "patch_lbpool",
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

/** The first subnet or instance of the new members that does not exist in this project and region. */
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

/** Work of `patch_lbpool`: applies the whole change or, if a subnet or instance is missing, nothing. */
export const finishPoolUpdate = (work: PoolWork, context: WorkContext): ReturnType<DoWork> => {
  const { records, newId } = context;
  const pool = records.get("load_balancer_pools", work.pool_id);
  if (pool === undefined) throw new TaskFailure("the pool no longer exists");

  const missing = findMissing(work.update, context);
  const next = missing === undefined ? applyPoolUpdate(pool, work.update, newId) : pool;
  records.put("load_balancer_pools", { ...next, task_id: null, provisioning_status: "ACTIVE" });
  if (missing !== undefined) throw new TaskFailure(`${missing} does not exist`);

  const before = pool.members.map(({ id }) => id);
  const members = next.members.map(({ id }) => id).filter((id) => !before.includes(id));
  return members.length > 0 ? { members } : null;
};
