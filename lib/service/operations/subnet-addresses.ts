import type { RecordReader } from "../records.ts";
import type { SubnetRecord } from "../state/state.ts";

interface Assignment {
  readonly ip_address: string;
  readonly subnet_id: string;
}

const toNumber = (ipv4: string): number =>
  ipv4.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const toIpv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");

/** What routers and instances have in subnets. */
const assignmentsIn = (records: RecordReader): readonly Assignment[] => [
  ...records
    .list("routers")
    .flatMap(({ interfaces, external_gateway_info: gateway }) => [
      ...interfaces.flatMap(({ ip_assignments }) => ip_assignments),
      ...(gateway?.external_fixed_ips ?? []),
    ]),
  ...records.list("instances").flatMap(({ fixed_ip_assignments }) => fixed_ip_assignments ?? []),
];

/** A floating IP's record does not name its subnet, so its address counts everywhere. */
const usedAddresses = ({ id }: SubnetRecord, records: RecordReader): ReadonlySet<string> =>
  new Set([
    ...assignmentsIn(records)
      .filter(({ subnet_id }) => subnet_id === id)
      .map(({ ip_address }) => ip_address),
    ...records.list("floating_ips").map(({ floating_ip_address }) => floating_ip_address),
  ]);

/** The lowest host address that neither the subnet's gateway nor anyone has; undefined when it is full. */
export const freeAddress = (subnet: SubnetRecord, records: RecordReader): string | undefined => {
  const used = usedAddresses(subnet, records);
  const [address = "", prefix] = subnet.cidr.split("/");
  const size = 2 ** (32 - Number(prefix));
  const network = Math.floor(toNumber(address) / size) * size;
  // The first address names the network, the last is for broadcast.
  for (let host = 1; host < size - 1; host += 1) {
    const candidate = toIpv4(network + host);
    if (candidate !== subnet.gateway_ip && !used.has(candidate)) return candidate;
  }
  return undefined;
};

/** The first router of a subnet is its gateway; another one takes a free address. */
export const routerAddress = (subnet: SubnetRecord, records: RecordReader): string | undefined =>
  usedAddresses(subnet, records).has(subnet.gateway_ip)
    ? freeAddress(subnet, records)
    : subnet.gateway_ip;
