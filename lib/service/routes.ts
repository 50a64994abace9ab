import { OPERATIONS } from "../contract/operations.ts";
import { PUBLISHED_TASK_PATH } from "../contract/tasks.ts";
import { updateContainerRoute } from "./containers.ts";
import { getInstanceRoute, resumeInstanceRoute } from "./instances.ts";
import { removePolicyVolumesRoute, updatePolicyRoute } from "./lifecycle-policies.ts";
import { getPoolRoute, updatePoolRoute } from "./load-balancer-pools.ts";
import { createRouterRoute, getRouterRoute } from "./routers.ts";
import { type Place, placesOf, type Route } from "./routing.ts";
import {
  createStorageEventRoute,
  listStorageEventsRoute,
  updateStorageEventRoute,
} from "./storage-events.ts";
import { getTaskRoute, listTasksRoute } from "./tasks.ts";

type OperationId = (typeof OPERATIONS)[number]["id"];

/** Does not compile while an operation of the contract has no route. */
const ROUTES: { readonly [Id in OperationId]: Route<Id> } = {
  "update-container": updateContainerRoute,
  "resume-instance": resumeInstanceRoute,
  "remove-policy-volumes": removePolicyVolumesRoute,
  "update-policy": updatePolicyRoute,
  "update-pool": updatePoolRoute,
  "update-storage-event": updateStorageEventRoute,
  "create-router": createRouterRoute,
  "create-storage-event": createStorageEventRoute,
  "get-task": getTaskRoute,
  "list-tasks": listTasksRoute,
  "get-instance": getInstanceRoute,
  "get-pool": getPoolRoute,
  "get-router": getRouterRoute,
  "list-storage-events": listStorageEventsRoute,
};

export interface MountedRoute {
  readonly place: Place;
  readonly route: Route;
  readonly successStatus: 200 | 204;
}

/** The document and the published specification write the task path differently: both are answered. */
const extraPlaces: Partial<Record<OperationId, readonly Place[]>> = {
  "get-task": [{ method: "GET", path: PUBLISHED_TASK_PATH }],
};

export const MOUNTED_ROUTES: readonly MountedRoute[] = OPERATIONS.flatMap((operation) =>
  [...placesOf(operation), ...(extraPlaces[operation.id] ?? [])].map((place) => ({
    place,
    route: ROUTES[operation.id],
    successStatus: operation.successStatus,
  })),
);
