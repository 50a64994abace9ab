import type { updatePool } from "../../contract/load-balancer-pools.ts";
import type { Body } from "../../contract/operation.ts";
import { toMonitorRecord } from "../state/load-balancer-pools.ts";
import type { MemberRecord, PoolRecord } from "../state/state.ts";

export type PoolUpdate = Body<typeof updatePool>;
type Monitor = PoolRecord["healthmonitor"];
type MemberInput = NonNullable<PoolUpdate["members"]>[number];

/** Null is a value here: it clears. Only what is left out is kept. */
const kept = <T>(given: T | undefined, current: T): T => (given === undefined ? current : given);

/**
 * The monitor that an update leaves. It is replaced whole, but it stays the pool's one monitor: its id
 * stays, and its type where the update names none, because the published type cannot be changed.
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

/** Without a monitor nobody knows how members are; with one, a member not yet seen counts as up. */
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

/** One text for all ways of writing an IPv6 address, as a URL has it (RFC 5952). */
const canonical = (address: string): string =>
  address.includes(":") ? new URL(`http://[${address}]`).hostname : address;

/** What tells members apart; the id that a request carries does not. */
export const memberAddress = (member: Pick<MemberInput, "address" | "protocol_port">): string =>
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

/** The members as the update leaves them; one that touches neither them nor the monitor leaves them as they are. */
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
 * The pool with the update's settings: what is left out is kept, nested objects and the member list
 * are replaced whole, null clears, and members with a known address and port keep their ids.
 */
export const applyPoolUpdate = (
  pool: PoolRecord,
  update: PoolUpdate,
  newId: () => string,
): PoolRecord => {
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
