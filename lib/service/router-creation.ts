import type { Body } from "../contract/operation.ts";
import type { createRouter } from "../contract/routers.ts";
import { priceListAt } from "./price-list.ts";
import type { Draft } from "./records.ts";
import type { NetworkRecord, RouterRecord, SubnetRecord, TaskRecord } from "./state/state.ts";
import type { Work } from "./state/tasks.ts";
import type { TaskEnd, WorkContext } from "./task-engine.ts";

type RouterWork = Extract<Work, { kind: "create-router" }>;
type Gateway = NonNullable<Body<typeof createRouter>["external_gateway_info"]>;

/** What may be used where the task runs: the project's own networks and the region's external ones. */
const reachableNetworks = (records: Draft, task: TaskRecord): readonly NetworkRecord[] =>
  records
    .list("networks")
    .filter(
      ({ project_id, region_id, external }) =>
        region_id === task.region_id && (external || project_id === task.project_id),
    );

const findSubnet = (networks: readonly NetworkRecord[], subnetId: string) =>
  networks
    .filter(({ external }) => !external)
    .flatMap((network) => network.subnets.map((subnet) => ({ network, subnet })))
    .find(({ subnet }) => subnet.id === subnetId);

const findExternal = (networks: readonly NetworkRecord[], gateway: Gateway) =>
  networks.find(
    ({ id, external }) => external && (gateway.type === "default" || gateway.network_id === id),
  );

const toNumber = (ipv4: string): number =>
  ipv4.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const toIpv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");

const assignmentsOf = (routers: readonly RouterRecord[]) =>
  routers.flatMap(({ interfaces, external_gateway_info: gateway }) => [
    ...interfaces.flatMap(({ ip_assignments }) => ip_assignments),
    ...(gateway?.external_fixed_ips ?? []),
  ]);

/** The lowest host address that neither the subnet's gateway nor a router has. */
const freeAddress = (
  { id, cidr, gateway_ip }: SubnetRecord,
  routers: readonly RouterRecord[],
): string | undefined => {
  const taken = assignmentsOf(routers)
    .filter(({ subnet_id }) => subnet_id === id)
    .map(({ ip_address }) => ip_address);
  const [base = "", prefix] = cidr.split("/");
  const hosts = 2 ** (32 - Number(prefix)) - 2;
  for (let host = 1; host <= hosts; host += 1) {
    const address = toIpv4(toNumber(base) + host);
    if (address !== gateway_ip && !taken.includes(address)) return address;
  }
  return undefined;
};

/** The first router of a subnet is its gateway; another one takes a free address. */
const addressIn = (subnet: SubnetRecord, routers: readonly RouterRecord[]): string | undefined => {
  const isGatewayTaken = assignmentsOf(routers).some(
    ({ subnet_id, ip_address }) => subnet_id === subnet.id && ip_address === subnet.gateway_ip,
  );
  return isGatewayTaken ? freeAddress(subnet, routers) : subnet.gateway_ip;
};

const toGatewayInfo = (
  gateway: Gateway | null | undefined,
  networks: readonly NetworkRecord[],
  routers: readonly RouterRecord[],
): RouterRecord["external_gateway_info"] => {
  const network = gateway ? findExternal(networks, gateway) : undefined;
  if (!gateway || network === undefined) return null;
  return {
    network_id: network.id,
    enable_snat: gateway.enable_snat ?? true,
    external_fixed_ips: network.subnets.slice(0, 1).flatMap((subnet) => {
      const address = freeAddress(subnet, routers);
      return address === undefined ? [] : [{ ip_address: address, subnet_id: subnet.id }];
    }),
  };
};

const subnetProblem = (
  subnetIds: readonly string[],
  networks: readonly NetworkRecord[],
  routers: readonly RouterRecord[],
): string | undefined => {
  for (const [index, id] of subnetIds.entries()) {
    const found = findSubnet(networks, id);
    if (found === undefined) return `subnet ${id} does not exist`;
    if (subnetIds.indexOf(id) < index) return `subnet ${id} is given twice`;
    if (addressIn(found.subnet, routers) === undefined) return `subnet ${id} has no free address`;
  }
  return undefined;
};

const gatewayProblem = (
  gateway: Gateway | null | undefined,
  networks: readonly NetworkRecord[],
  routers: readonly RouterRecord[],
): string | undefined => {
  if (!gateway) return undefined;
  const network = findExternal(networks, gateway);
  if (network === undefined) {
    return gateway.type === "manual"
      ? `external network ${gateway.network_id} does not exist`
      : "the region has no external network";
  }
  const [subnet] = network.subnets;
  return subnet && freeAddress(subnet, routers) === undefined
    ? `external network ${network.id} has no free address`
    : undefined;
};

const toInterface = (
  subnetId: string,
  networks: readonly NetworkRecord[],
  routers: readonly RouterRecord[],
  newId: () => string,
): RouterRecord["interfaces"] => {
  const found = findSubnet(networks, subnetId);
  const address = found && addressIn(found.subnet, routers);
  if (found === undefined || address === undefined) return [];
  const ip_assignments = [{ ip_address: address, subnet_id: found.subnet.id }];
  return [{ port_id: newId(), network_id: found.network.id, ip_assignments }];
};

/** The end of `create_router`: the whole router or, when something stands in its way, none. */
export const finishRouterCreation = (
  { router }: RouterWork,
  { records, task, endedAt, newId }: WorkContext,
): TaskEnd => {
  const networks = reachableNetworks(records, task);
  const routers = records.list("routers");
  const subnetIds = (router.interfaces ?? []).map(({ subnet_id }) => subnet_id);
  const problem =
    subnetProblem(subnetIds, networks, routers) ??
    gatewayProblem(router.external_gateway_info, networks, routers);
  if (problem !== undefined) return { kind: "failed", error: problem };

  const id = newId();
  records.put("routers", {
    id,
    name: router.name,
    status: "ACTIVE",
    distributed: false,
    interfaces: subnetIds.flatMap((subnetId) => toInterface(subnetId, networks, routers, newId)),
    routes: router.routes ?? [],
    external_gateway_info: toGatewayInfo(router.external_gateway_info, networks, routers),
    created_at: task.created_on,
    updated_at: endedAt,
    task_id: null,
    creator_task_id: task.id,
    project_id: task.project_id,
    region_id: task.region_id,
    region: priceListAt(records, task.region_id, Date.parse(endedAt))?.region ?? "",
  });
  return { kind: "finished", createdResources: { routers: [id] } };
};
