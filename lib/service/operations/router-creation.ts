import type { Body } from "../../contract/operation.ts";
import type { createRouter } from "../../contract/routers.ts";
import { epochMsOf } from "../../contract/timestamp.ts";
import type { Draft } from "../records.ts";
import type { NetworkRecord, RouterRecord, TaskRecord } from "../state/state.ts";
import type { Work } from "../state/tasks.ts";
import type { TaskEnd, WorkContext } from "../task-engine.ts";
import { priceListAt } from "./regions.ts";
import { freeAddress, routerAddress } from "./subnet-addresses.ts";

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
    ({ id, external }) =>
      external && (gateway.network_id === undefined || gateway.network_id === id),
  );

const toGatewayInfo = (
  gateway: Gateway | null | undefined,
  networks: readonly NetworkRecord[],
  records: Draft,
): RouterRecord["external_gateway_info"] => {
  const network = gateway ? findExternal(networks, gateway) : undefined;
  if (!gateway || network === undefined) return null;
  return {
    network_id: network.id,
    enable_snat: gateway.enable_snat ?? true,
    external_fixed_ips: network.subnets.slice(0, 1).flatMap((subnet) => {
      const address = freeAddress(subnet, records);
      return address === undefined ? [] : [{ ip_address: address, subnet_id: subnet.id }];
    }),
  };
};

const subnetProblem = (
  subnetIds: readonly string[],
  networks: readonly NetworkRecord[],
  records: Draft,
): string | undefined => {
  for (const [index, id] of subnetIds.entries()) {
    const found = findSubnet(networks, id);
    if (found === undefined) return `subnet ${id} does not exist`;
    if (subnetIds.indexOf(id) < index) return `subnet ${id} is given twice`;
    if (routerAddress(found.subnet, records) === undefined)
      return `subnet ${id} has no free address`;
  }
  return undefined;
};

const gatewayProblem = (
  gateway: Gateway | null | undefined,
  networks: readonly NetworkRecord[],
  records: Draft,
): string | undefined => {
  if (!gateway) return undefined;
  const network = findExternal(networks, gateway);
  if (network === undefined) {
    return gateway.network_id === undefined
      ? "the region has no external network"
      : `external network ${gateway.network_id} does not exist`;
  }
  const [subnet] = network.subnets;
  return subnet && freeAddress(subnet, records) === undefined
    ? `external network ${network.id} has no free address`
    : undefined;
};

const toInterface = (
  subnetId: string,
  networks: readonly NetworkRecord[],
  records: Draft,
  newId: () => string,
): RouterRecord["interfaces"] => {
  const found = findSubnet(networks, subnetId);
  const address = found && routerAddress(found.subnet, records);
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
  const subnetIds = (router.interfaces ?? []).map(({ subnet_id }) => subnet_id);
  const problem =
    subnetProblem(subnetIds, networks, records) ??
    gatewayProblem(router.external_gateway_info, networks, records);
  if (problem !== undefined) return { kind: "failed", error: problem };

  const id = newId();
  records.put("routers", {
    id,
    name: router.name,
    status: "ACTIVE",
    distributed: false,
    interfaces: subnetIds.flatMap((subnetId) => toInterface(subnetId, networks, records, newId)),
    routes: router.routes ?? [],
    external_gateway_info: toGatewayInfo(router.external_gateway_info, networks, records),
    created_at: task.created_on,
    updated_at: endedAt,
    task_id: null,
    creator_task_id: task.id,
    project_id: task.project_id,
    region_id: task.region_id,
    region: priceListAt(records, task.region_id, epochMsOf(endedAt))?.region ?? "",
  });
  return { kind: "finished", createdResources: { routers: [id] } };
};
