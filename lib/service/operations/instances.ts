import { getInstance, resumeInstance } from "../../contract/instances.ts";
import type { Params } from "../../contract/operation.ts";
import { conflict, invalid, locked } from "../errors.ts";
import { requireOwned } from "../locations.ts";
import { type Call, route } from "../routing.ts";
import type { InstanceRecord } from "../state/instances.ts";

type InstanceParams = Params<typeof getInstance>;

type Shown = { readonly query: { readonly with_ddos?: boolean | undefined } };

const requireInstance = <Q, B>(call: Call<InstanceParams, Q, B>) =>
  requireOwned(call.records.get("instances", call.params.instance_id), call, "instance");

/** Hides the DDoS profile unless the query asks for it. */
const show = (instance: InstanceRecord, { query }: Shown): InstanceRecord =>
  query.with_ddos ? instance : { ...instance, ddos_profile: null };

export const getInstanceRoute = route(getInstance, (call) => show(requireInstance(call), call));

/** The instance is active when the response is sent. The lock is checked before the state. */
export const resumeInstanceRoute = route(resumeInstance, (call) => {
  const instance = requireInstance(call);
  if (instance.task_id !== null) throw conflict(locked("instance", instance.task_id));
  if (instance.status !== "SUSPENDED") {
    throw invalid({ status: [`must be SUSPENDED to resume, is ${instance.status}`] });
  }

  const resumed = { ...instance, status: "ACTIVE", vm_state: "active", task_state: "" } as const;
  call.records.put("instances", resumed);
  return { count: 1, results: [show(resumed, call)] };
});
