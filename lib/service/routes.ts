import { OPERATIONS } from "../contract/operations.ts";
import { type Place, placesOf } from "../contract/places.ts";
import { listAiTasksRoute } from "./ai-tasks.ts";
import { getGpuClusterPriceRoute, getK8sClusterPriceRoute } from "./cluster-prices.ts";
import { getContainerRoute, updateContainerRoute } from "./containers.ts";
import { getDdosPriceRoute } from "./ddos-price.ts";
import { previewInstancePriceRoute } from "./instance-price.ts";
import { getInstanceRoute, resumeInstanceRoute } from "./instances.ts";
import {
  getPolicyRoute,
  removePolicyVolumesRoute,
  updatePolicyRoute,
} from "./lifecycle-policies.ts";
import { getPoolRoute, updatePoolRoute } from "./load-balancer-pools.ts";
import { createRouterRoute, getRouterRoute } from "./routers.ts";
import type { Route } from "./routing.ts";
import {
  createStorageEventRoute,
  deleteStorageEventRoute,
  listStorageEventsRoute,
  listStorageEventTypesRoute,
  updateStorageEventRoute,
} from "./storage-events.ts";
import { getFloatingIpTagRoute, getNetworkTagRoute } from "./tags.ts";
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

export const MOUNTED_ROUTES: readonly MountedRoute[] = OPERATIONS.flatMap((operation) =>
  placesOf(operation).map((place) => ({
    place,
    route: ROUTES[operation.id],
    successStatus: operation.successStatus,
  })),
);
