import { type Place, placesOf } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { listAiTasksRoute } from "./operations/ai-tasks.ts";
import {
  finishContainerUpdate,
  getContainerRoute,
  updateContainerRoute,
} from "./operations/containers.ts";
import { getInstanceRoute, resumeInstanceRoute } from "./operations/instances.ts";
import {
  getPolicyRoute,
  removePolicyVolumesRoute,
  updatePolicyRoute,
} from "./operations/lifecycle-policies.ts";
import {
  finishPoolUpdate,
  getPoolRoute,
  updatePoolRoute,
} from "./operations/load-balancer-pools.ts";
import {
  getDdosPriceRoute,
  getGpuClusterPriceRoute,
  getK8sClusterPriceRoute,
  previewInstancePriceRoute,
} from "./operations/prices.ts";
import { createRouterRoute, finishRouterCreation, getRouterRoute } from "./operations/routers.ts";
import {
  createStorageEventRoute,
  deleteStorageEventRoute,
  listStorageEventsRoute,
  listStorageEventTypesRoute,
  updateStorageEventRoute,
} from "./operations/storage-events.ts";
import { getFloatingIpTagRoute, getNetworkTagRoute } from "./operations/tags.ts";
import { getTaskRoute, listTasksRoute } from "./operations/tasks.ts";
import type { Route } from "./routing.ts";
import type { DoWork } from "./task-engine.ts";

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
  "list-ai-tasks": listAiTasksRoute,
  "preview-instance-price": previewInstancePriceRoute,
  "get-k8s-cluster-price": getK8sClusterPriceRoute,
  "get-ddos-price": getDdosPriceRoute,
  "get-gpu-cluster-price": getGpuClusterPriceRoute,
  "get-floating-ip-tag": getFloatingIpTagRoute,
  "get-network-tag": getNetworkTagRoute,
  "get-task": getTaskRoute,
  "list-tasks": listTasksRoute,
  "get-container": getContainerRoute,
  "get-instance": getInstanceRoute,
  "get-policy": getPolicyRoute,
  "get-pool": getPoolRoute,
  "get-router": getRouterRoute,
  "list-storage-events": listStorageEventsRoute,
  "list-storage-event-types": listStorageEventTypesRoute,
  "delete-storage-event": deleteStorageEventRoute,
};

export interface MountedRoute {
  readonly place: Place;
  readonly route: Route;
  readonly successStatus: 200 | 204;
}

/** Every operation at each of its places. */
export const MOUNTED_ROUTES: readonly MountedRoute[] = OPERATIONS.flatMap((operation) =>
  placesOf(operation).map((place) => ({
    place,
    route: ROUTES[operation.id],
    successStatus: operation.successStatus,
  })),
);

/** Every kind of background work and the part that knows how it ends. */
export const doWork: DoWork = (work, context) => {
  switch (work.kind) {
    case "update-container":
      return finishContainerUpdate(work, context);
    case "update-pool":
      return finishPoolUpdate(work, context);
    case "create-router":
      return finishRouterCreation(work, context);
    default:
      return work satisfies never;
  }
};
