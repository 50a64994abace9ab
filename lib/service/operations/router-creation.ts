import type { Body } from "../../contract/operation.ts";
import type { createRouter } from "../../contract/routers.ts";
import { epochMsOf } from "../../contract/values.ts";
import type { Draft } from "../records.ts";
import { macAddressOf } from "../state/routers.ts";
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

/** What stands in the way of a router, in words for its task. */
class Obstacle extends Error {}

/** @throws Obstacle when there is no such subnet, or no address left in it */
const attach = (
  subnetId: string,
  networks: readonly NetworkRecord[],
  { records, newId }: WorkContext,
): RouterRecord["interfaces"][number] => {
  const network = networks.find(
    ({ external, subnets }) => !external && subnets.some(({ id }) => id === subnetId),
  );
  const subnet = network?.subnets.find(({ id }) => id === subnetId);
  if (!network || !subnet) throw new Obstacle(`subnet ${subnetId} does not exist`);
  const ip_address = routerAddress(subnet, records);
  if (ip_address === undefined) throw new Obstacle(`subnet ${subnetId} has no free address`);
  const ip_assignments = [{ ip_address, subnet_id: subnetId }];
  const port_id = newId();
  return {
    port_id,
    network_id: network.id,
    ip_assignments,
    mac_address: macAddressOf(port_id),
  };
};

/** @throws Obstacle also when a subnet is given twice: a router has one interface in each */
const attachAll = (
  subnetIds: readonly string[],
  networks: readonly NetworkRecord[],
  context: WorkContext,
): RouterRecord["interfaces"] => {
  const interfaces = new Map<string, RouterRecord["interfaces"][number]>();
  for (const id of subnetIds) {
    if (interfaces.has(id)) throw new Obstacle(`subnet ${id} is given twice`);
    interfaces.set(id, attach(id, networks, context));
  }
  return [...interfaces.values()];
};

/** @throws Obstacle when there is no such external network, or no address left in it */
const connect = (
  { network_id, enable_snat = true }: Gateway,
  networks: readonly NetworkRecord[],
  { records }: WorkContext,
): RouterRecord["external_gateway_info"] => {
  const network = networks.find(
    ({ id, external }) => external && (network_id === undefined || network_id === id),
  );
  if (network === undefined) {
    throw new Obstacle(
      network_id === undefined
        ? "the region has no external network"
        : `external network ${network_id} does not exist`,
    );
  }
  const external_fixed_ips = network.subnets.slice(0, 1).map((subnet) => {
    const ip_address = freeAddress(subnet, records);
    if (ip_address === undefined) {
      throw new Obstacle(`external network ${network.id} has no free address`);
    }
    return { ip_address, subnet_id: subnet.id };
  });
  return { network_id: network.id, enable_snat, external_fixed_ips };
};

const toRouter = ({ router }: RouterWork, context: WorkContext): RouterRecord => {
  const { records, task, endedAt, newId } = context;
  const networks = reachableNetworks(records, task);
  const subnetIds = (router.interfaces ?? []).map(({ subnet_id }) => subnet_id);
  const gateway = router.external_gateway_info;
  return {
    id: newId(),
    name: router.name,
    status: "ACTIVE",
    distributed: false,
    interfaces: attachAll(subnetIds, networks, context),
    routes: router.routes ?? [],
    external_gateway_info: gateway ? connect(gateway, networks, context) : null,
    created_at: task.created_on,
    updated_at: endedAt,
    task_id: null,
    creator_task_id: task.id,
    project_id: task.project_id,
    region_id: task.region_id,
    region: priceListAt(records, task.region_id, epochMsOf(endedAt))?.region ?? "",
  };
};

/** The end of `create_router`: the whole router or, when something stands in its way, none. */
export const finishRouterCreation = (work: RouterWork, context: WorkContext): TaskEnd => {
  try {
    const router = toRouter(work, context);
    context.records.put("routers", router);
    return { kind: "finished", createdResources: { routers: [router.id] } };
  } catch (error) {
    if (!(error instanceof Obstacle)) throw error;
    return { kind: "failed", error: error.message };
  }
};
