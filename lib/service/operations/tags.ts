import { getFloatingIpTag, getNetworkTag } from "../../contract/tags.ts";
import { notFound } from "../errors.ts";
import { requireOwned } from "../locations.ts";
import { readRoute } from "../routing.ts";
import type { NetworkRecord } from "../state/networks.ts";

type Tag = NetworkRecord["tags"][number];

/** @throws RefusedError 404; only the message tells a missing tag from a missing resource */
const requireTag = (tags: readonly Tag[], wanted: string): Tag => {
  const tag = tags.find(({ key }) => key === wanted);
  if (tag === undefined) throw notFound("tag");
  return tag;
};

/** An external network is open to every project of its region, as if it were the project's own. */
const asSeenFrom = (
  { project_id }: { readonly project_id: number },
  network: NetworkRecord | undefined,
): NetworkRecord | undefined => (network?.external ? { ...network, project_id } : network);

export const getFloatingIpTagRoute = readRoute(
  getFloatingIpTag,
  ({ params, query, records, caller }) => {
    const found = records.get("floating_ips", params.floating_ip_id);
    return requireTag(requireOwned(found, params, caller, "floating IP").tags, query.key);
  },
);

export const getNetworkTagRoute = readRoute(getNetworkTag, ({ params, query, records, caller }) => {
  const found = records.get("networks", params.network_id);
  return requireTag(
    requireOwned(asSeenFrom(params, found), params, caller, "network").tags,
    query.key,
  );
});
