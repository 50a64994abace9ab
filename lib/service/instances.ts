import { getInstance, resumeInstance } from "../contract/instances.ts";
import { conflict, invalid } from "./errors.ts";
import { requireOwned } from "./ownership.ts";
import { route } from "./routing.ts";

export const getInstanceRoute = route(getInstance, ({ params, records, caller }) =>
  requireOwned(records.get("instances", params.instance_id), params, caller, "instance"),
);

/** Done at once: the instance is active when the answer comes. The lock is looked at before the state. */
export const resumeInstanceRoute = route(resumeInstance, ({ params, records, caller }) => {
  const found = records.get("instances", params.instance_id);
  const instance = requireOwned(found, params, caller, "instance");
  if (instance.task_id !== null) throw conflict("a running task holds the instance");
  if (instance.status !== "SUSPENDED") {
    throw invalid({ status: [`must be SUSPENDED to resume, is ${instance.status}`] });
  }

  const resumed = { ...instance, status: "ACTIVE", vm_state: "active", task_state: null } as const;
  records.put("instances", resumed);
  return { count: 1, results: [resumed] };
});
