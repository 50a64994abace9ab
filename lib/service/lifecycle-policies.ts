import { removePolicyVolumes, updatePolicy } from "../contract/lifecycle-policies.ts";
import { requireOwned } from "./ownership.ts";
import { type Call, route } from "./routing.ts";
import type { RecordOf } from "./state.ts";

type Policy = RecordOf<"lifecycle_policies">;
interface PolicyParams {
  readonly project_id: number;
  readonly region_id: number;
  readonly policy_id: number;
}

const requirePolicy = <Q, B>({ params, records, caller }: Call<PolicyParams, Q, B>): Policy =>
  requireOwned(
    records.get("lifecycle_policies", String(params.policy_id)),
    params,
    caller,
    "lifecycle policy",
  );

/** Answers carry no `volumes`: the document shows them only where a query parameter asks for them. */
const show = ({ volumes, ...shown }: Policy) => shown;

/** Volumes that the policy does not have are passed over: they are detached already. */
export const removePolicyVolumesRoute = route(removePolicyVolumes, (call) => {
  const policy = requirePolicy(call);
  const { volume_ids: detached } = call.body;

  const volumes = policy.volumes.filter(({ volume_id }) => !detached.includes(volume_id));
  call.records.put("lifecycle_policies", { ...policy, volumes });
  return show(policy);
});

export const updatePolicyRoute = route(updatePolicy, (call) => {
  const policy = requirePolicy(call);
  const { name = policy.name, status = policy.status } = call.body;

  const updated = { ...policy, name, status };
  call.records.put("lifecycle_policies", updated);
  return show(updated);
});
