import { getFloatingIpTag, getNetworkTag } from "../contract/tags.ts";
import { invalid, notFound } from "./errors.ts";
import { requireOwned } from "./ownership.ts";
import { route } from "./routing.ts";
import type { NetworkRecord } from "./state/state.ts";

type Tag = NetworkRecord["tags"][number];

/** The provider's public rule, beyond the document's length: it is the server that decides. */
const checkKey = (key: string): void => {
  if (/[\s=]/.test(key)) throw invalid({ key: ["must not hold whitespace or ="] });
};

/** @throws RefusedError 404; only the message tells a missing tag from a missing resource */
const requireTag = (tags: readonly Tag[], wanted: string): Tag => {
  const tag = tags.find(({ key }) => key === wanted);
  if (tag === undefined) throw notFound("tag");
  return tag;
};

export const getFloatingIpTagRoute = route(
  getFloatingIpTag,
  ({ params, query, records, caller }) => {
    checkKey(query.key);
    const found = records.get("floating_ips", params.floating_ip_id);
    return requireTag(requireOwned(found, params, caller, "floating IP").tags, query.key);
  },
);

export const getNetworkTagRoute = route(getNetworkTag, ({ params, query, records, caller }) => {
  checkKey(query.key);
  const found = records.get("networks", params.network_id);
  return requireTag(requireOwned(found, params, caller, "network").tags, query.key);
});
