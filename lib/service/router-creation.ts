import type { Body } from "../contract/operation.ts";
import type { createRouter } from "../contract/routers.ts";
import type { Draft } from "./records.ts";
import type { NetworkRecord, RouterRecord, SubnetRecord, TaskRecord, Work } from "./state.ts";
import type { TaskEnd, WorkContext } from "./task-engine.ts";

type RouterWork = Extract<Work, { kind: "create-router" }>;
type Gateway = NonNullable<Body<typeof createRouter>["external_gateway_info"]>;

/** What may be used where the task runs: the project's own networks and the region's external ones. */
const reachableNetworks = (records: Draft, task: TaskRecord): readonly NetworkRecord[] =>
  records
    .list("networks")
    .filter(
      ({ project_id, region_id }) =>
        region_id === task.region_id && (project_id === null || project_id === task.project_id),
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

const subnetProblem = (
  subnetIds: readonly string[],
  networks: readonly NetworkRecord[],
  routers: readonly RouterRecord[],
): string | undefined => {
  const attached = routers
    .flatMap(({ interfaces }) => interfaces)
    .flatMap(({ ip_assignments }) => ip_assignments.map(({ subnet_id }) => subnet_id));
  for (const [index, id] of subnetIds.entries()) {
    if (findSubnet(networks, id) === undefined) return `subnet ${id} does not exist`;
    if (attached.includes(id)) return `subnet ${id} is already attached to a router`;
    if (subnetIds.indexOf(id) < index) return `subnet ${id} is given twice`;
  }
  return undefined;
};

const gatewayProblem = (
  gateway: Gateway | null | undefined,
  networks: readonly NetworkRecord[],
): string | undefined => {
  if (!gateway || findExternal(networks, gateway) !== undefined) return undefined;
  return gateway.type === "manual"
    ? `external network ${gateway.network_id} does not exist`
    : "the region has no external network";
};

const toNumber = (ipv4: string): number =>
  ipv4.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const toIpv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");

/** The lowest host address that neither the subnet's gateway nor a router has. */
const freeAddress = (
  { id, cidr, gateway_ip }: SubnetRecord,
  routers: readonly RouterRecord[],
): string | undefined => {
  const taken = routers
    .flatMap(({ external_gateway_info: gateway }) => gateway?.external_fixed_ips ?? [])
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

/** A router takes the gateway address of each subnet that it is attached to. */
const toInterface = (
  subnetId: string,
  networks: readonly NetworkRecord[],
  newId: () => string,
): RouterRecord["interfaces"] => {
  const found = findSubnet(networks, subnetId);
  if (found === undefined) return [];
  const { network, subnet } = found;
  const ip_assignments = [{ ip_address: subnet.gateway_ip, subnet_id: subnet.id }];
  return [{ port_id: newId(), network_id: network.id, ip_assignments }];
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
    gatewayProblem(router.external_gateway_info, networks);
  if (problem !== undefined) return { kind: "failed", error: problem };

  const id = newId();
  records.put("routers", {
    id,
    name: router.name,
    status: "ACTIVE",
    distributed: false,
    interfaces: subnetIds.flatMap((subnetId) => toInterface(subnetId, networks, newId)),
    routes: router.routes ?? [],
    external_gateway_info: toGatewayInfo(router.external_gateway_info, networks, routers),
    created_at: task.created_on,
    updated_at: endedAt,
    task_id: null,
    creator_task_id: task.id,
    project_id: task.project_id,
    region_id: task.region_id,
    region: records.get("regions", String(task.region_id))?.name ?? "",
  });
  return { kind: "finished", createdResources: { routers: [id] } };
};
