import { getPolicy, removePolicyVolumes, updatePolicy } from "../../contract/lifecycle-policies.ts";
import type { Params } from "../../contract/operation.ts";
import { requireOwned } from "../locations.ts";
import { type Call, route } from "../routing.ts";
import type { PolicyRecord } from "../state/lifecycle-policies.ts";

type PolicyParams = Params<typeof getPolicy>;
type Shown = { readonly query: { readonly need_volumes?: boolean | undefined } };

const requirePolicy = <Q, B>(call: Call<PolicyParams, Q, B>) => {
  const found = call.records.get("lifecycle_policies", String(call.params.policy_id));
  return requireOwned(found, call, "lifecycle policy");
};

/** Hides the volumes unless the query asks for them. */
const show = ({ volumes, ...shown }: PolicyRecord, { query }: Shown) =>
  query.need_volumes ? { ...shown, volumes } : shown;

export const getPolicyRoute = route(getPolicy, (call) => show(requirePolicy(call), call));

/** Ignores ids that the policy does not have, because those volumes are detached already. */
export const removePolicyVolumesRoute = route(removePolicyVolumes, (call) => {
  const policy = requirePolicy(call);
  const { volume_ids: detached } = call.body;

  const volumes = policy.volumes.filter(({ volume_id }) => !detached.includes(volume_id));
  const updated = { ...policy, volumes };
  call.records.put("lifecycle_policies", updated);
  return show(updated, call);
});

export const updatePolicyRoute = route(updatePolicy, (call) => {
  const policy = requirePolicy(call);
  const { name = policy.name, status = policy.status } = call.body;

  const updated = { ...policy, name, status };
  call.records.put("lifecycle_policies", updated);
  return show(updated, call);
});
