import type { Body } from "../../contract/operation.ts";
import { createRouter, getRouter } from "../../contract/routers.ts";
import { epochMsOf } from "../../contract/values.ts";
import { priceListAt, requireLocation, requireOwned } from "../locations.ts";
import type { Draft, RecordReader } from "../records.ts";
import { route } from "../routing.ts";
import type { NetworkRecord, SubnetRecord } from "../state/networks.ts";
import type { RouterRecord } from "../state/routers.ts";
import { macAddressOf } from "../state/routers.ts";
import type { TaskRecord, Work } from "../state/tasks.ts";
import { type DoWork, startTask, TaskFailure, type WorkContext } from "../task-engine.ts";

export const getRouterRoute = route(getRouter, (call) =>
  requireOwned(call.records.get("routers", call.params.router_id), call, "router"),
);

/** Accepts the request; the router exists when the task has finished. */
export const createRouterRoute = route(createRouter, (call) => {
  const { body } = call;
  requireLocation(call);
  const taskId = startTask(call, {
    taskType: "create_router",
    data: body,
    work: { kind: "create-router", router: body },
  });
  return { tasks: [taskId] };
});

interface Assignment {
  readonly ip_address: string;
  readonly subnet_id: string;
}

const toNumber = (ipv4: string): number =>
  ipv4.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const toIpv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");

const assignmentsIn = (records: RecordReader): readonly Assignment[] => [
  ...records
    .list("routers")
    .flatMap(({ interfaces, external_gateway_info: gateway }) => [
      ...interfaces.flatMap(({ ip_assignments }) => ip_assignments),
      ...(gateway?.external_fixed_ips ?? []),
    ]),
  ...records.list("instances").flatMap(({ fixed_ip_assignments }) => fixed_ip_assignments ?? []),
];

/** Used addresses of a subnet. A floating IP has no subnet in its record, so it counts in every subnet. */
const usedAddresses = ({ id }: SubnetRecord, records: RecordReader): ReadonlySet<string> =>
  new Set([
    ...assignmentsIn(records)
      .filter(({ subnet_id }) => subnet_id === id)
      .map(({ ip_address }) => ip_address),
    ...records.list("floating_ips").map(({ floating_ip_address }) => floating_ip_address),
  ]);

/** The lowest unused host address except the gateway's; undefined when the subnet is full. */
const freeAddress = (subnet: SubnetRecord, records: RecordReader): string | undefined => {
  const used = usedAddresses(subnet, records);
  const [address = "", prefix] = subnet.cidr.split("/");
  const size = 2 ** (32 - Number(prefix));
  const network = Math.floor(toNumber(address) / size) * size;
  // The first address is the network's, the last one is for broadcast.
  for (let host = 1; host < size - 1; host += 1) {
    const candidate = toIpv4(network + host);
    if (candidate !== subnet.gateway_ip && !used.has(candidate)) return candidate;
  }
  return undefined;
};

/** Address of a router in a subnet: the gateway address for the first router, a free one for any other. */
const routerAddress = (subnet: SubnetRecord, records: RecordReader): string | undefined =>
  usedAddresses(subnet, records).has(subnet.gateway_ip)
    ? freeAddress(subnet, records)
    : subnet.gateway_ip;

type RouterWork = Extract<Work, { kind: "create-router" }>;
type Gateway = NonNullable<Body<typeof createRouter>["external_gateway_info"]>;

/** The networks of the project and the external networks of the region. */
const reachableNetworks = (records: Draft, task: TaskRecord): readonly NetworkRecord[] =>
  records
    .list("networks")
    .filter(
      ({ project_id, region_id, external }) =>
        region_id === task.region_id && (external || project_id === task.project_id),
    );

/** @throws TaskFailure when the subnet does not exist or has no free address */
const attach = (
  subnetId: string,
  networks: readonly NetworkRecord[],
  { records, newId }: WorkContext,
): RouterRecord["interfaces"][number] => {
  const network = networks.find(
    ({ external, subnets }) => !external && subnets.some(({ id }) => id === subnetId),
  );
  const subnet = network?.subnets.find(({ id }) => id === subnetId);
  if (!network || !subnet) throw new TaskFailure(`subnet ${subnetId} does not exist`);
  const ip_address = routerAddress(subnet, records);
  if (ip_address === undefined) throw new TaskFailure(`subnet ${subnetId} has no free address`);
  const ip_assignments = [{ ip_address, subnet_id: subnetId }];
  const port_id = newId();
  return {
    port_id,
    network_id: network.id,
    ip_assignments,
    mac_address: macAddressOf(port_id),
  };
};

/** @throws TaskFailure as `attach`, and for a duplicate subnet: a router has one interface per subnet */
const attachAll = (
  subnetIds: readonly string[],
  networks: readonly NetworkRecord[],
  context: WorkContext,
): RouterRecord["interfaces"] => {
  const interfaces = new Map<string, RouterRecord["interfaces"][number]>();
  for (const id of subnetIds) {
    if (interfaces.has(id))
      throw new TaskFailure(`subnet ${id} is listed twice; a router has one interface per subnet`);
    interfaces.set(id, attach(id, networks, context));
  }
  return [...interfaces.values()];
};

/** @throws TaskFailure when the external network does not exist or has no free address */
const connect = (
  { network_id, enable_snat = true }: Gateway,
  networks: readonly NetworkRecord[],
  { records }: WorkContext,
): RouterRecord["external_gateway_info"] => {
  const network = networks.find(
    ({ id, external }) => external && (network_id === undefined || network_id === id),
  );
  if (network === undefined) {
    throw new TaskFailure(
      network_id === undefined
        ? "the region has no external network"
        : `external network ${network_id} does not exist`,
    );
  }
  const external_fixed_ips = network.subnets.slice(0, 1).map((subnet) => {
    const ip_address = freeAddress(subnet, records);
    if (ip_address === undefined) {
      throw new TaskFailure(`external network ${network.id} has no free address`);
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

/** Work of `create_router`: creates the whole router or nothing. */
export const finishRouterCreation = (
  work: RouterWork,
  context: WorkContext,
): ReturnType<DoWork> => {
  const router = toRouter(work, context);
  context.records.put("routers", router);
  return { routers: [router.id] };
};
