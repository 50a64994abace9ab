import { getFloatingIpTag, getNetworkTag } from "../../contract/tags.ts";
import { notFound } from "../errors.ts";
import { requireOwned } from "../locations.ts";
import { route } from "../routing.ts";
import type { NetworkRecord } from "../state/networks.ts";

type Tag = NetworkRecord["tags"][number];

/** @throws RefusedError 404 like that of a missing resource, with another message */
const requireTag = (tags: readonly Tag[], wanted: string): Tag => {
  const tag = tags.find(({ key }) => key === wanted);
  if (tag === undefined) throw notFound("tag");
  return tag;
};

export const getFloatingIpTagRoute = route(getFloatingIpTag, (call) => {
  const found = call.records.get("floating_ips", call.params.floating_ip_id);
  return requireTag(requireOwned(found, call, "floating IP").tags, call.query.key);
});

export const getNetworkTagRoute = route(getNetworkTag, (call) => {
  const { project_id, network_id } = call.params;
  const found = call.records.get("networks", network_id);
  // Every project of the region can read an external network as if it were its own.
  const reachable = found?.external ? { ...found, project_id } : found;
  return requireTag(requireOwned(reachable, call, "network").tags, call.query.key);
});
