import { createRouter, getRouter } from "../../contract/routers.ts";
import { requireOwned } from "../ownership.ts";
import { mutationRoute, readRoute } from "../routing.ts";
import { startTask } from "../task-engine.ts";
import { requireLocation } from "./regions.ts";

export const getRouterRoute = readRoute(getRouter, ({ params, records, caller }) =>
  requireOwned(records.get("routers", params.router_id), params, caller, "router"),
);

/** Accepts the router; it comes into being when the task has finished. */
export const createRouterRoute = mutationRoute(createRouter, (call) => {
  const { params, body } = call;
  requireLocation(params, call);
  const taskId = startTask(call, {
    taskType: "create_router",
    projectId: params.project_id,
    regionId: params.region_id,
    data: body,
    work: { kind: "create-router", router: body },
  });
  return { tasks: [taskId] };
});
