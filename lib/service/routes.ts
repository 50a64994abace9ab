import { type Endpoint, endpointsOf } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import * as aiTasks from "./operations/ai-tasks.ts";
import * as containers from "./operations/containers.ts";
import * as instances from "./operations/instances.ts";
import * as policies from "./operations/lifecycle-policies.ts";
import * as pools from "./operations/load-balancer-pools.ts";
import * as prices from "./operations/prices.ts";
import * as routers from "./operations/routers.ts";
import * as storageEvents from "./operations/storage-events.ts";
import * as tags from "./operations/tags.ts";
import * as tasks from "./operations/tasks.ts";
import type { Route } from "./routing.ts";
import type { DoWork } from "./task-engine.ts";

type OperationId = (typeof OPERATIONS)[number]["id"];

/** Routes by operation id. The type requires one for every operation of the contract. */
const ROUTES: { readonly [Id in OperationId]: Route<Id> } = {
  "update-container": containers.updateContainerRoute,
  "resume-instance": instances.resumeInstanceRoute,
  "remove-policy-volumes": policies.removePolicyVolumesRoute,
  "update-policy": policies.updatePolicyRoute,
  "update-pool": pools.updatePoolRoute,
  "update-storage-event": storageEvents.updateStorageEventRoute,
  "create-router": routers.createRouterRoute,
  "create-storage-event": storageEvents.createStorageEventRoute,
  "list-ai-tasks": aiTasks.listAiTasksRoute,
  "preview-instance-price": prices.previewInstancePriceRoute,
  "get-k8s-cluster-price": prices.getK8sClusterPriceRoute,
  "get-ddos-price": prices.getDdosPriceRoute,
  "get-gpu-cluster-price": prices.getGpuClusterPriceRoute,
  "get-floating-ip-tag": tags.getFloatingIpTagRoute,
  "get-network-tag": tags.getNetworkTagRoute,
  "get-task": tasks.getTaskRoute,
  "list-tasks": tasks.listTasksRoute,
  "get-container": containers.getContainerRoute,
  "get-instance": instances.getInstanceRoute,
  "get-policy": policies.getPolicyRoute,
  "get-pool": pools.getPoolRoute,
  "get-router": routers.getRouterRoute,
  "list-storage-events": storageEvents.listStorageEventsRoute,
  "list-storage-event-types": storageEvents.listStorageEventTypesRoute,
  "delete-storage-event": storageEvents.deleteStorageEventRoute,
};

export interface MountedRoute {
  readonly endpoint: Endpoint;
  readonly route: Route;
}

/** The routes of all operations at all of their endpoints. */
export const MOUNTED_ROUTES: readonly MountedRoute[] = OPERATIONS.flatMap((operation) =>
  endpointsOf(operation).map((endpoint) => ({ endpoint, route: ROUTES[operation.id] })),
);

/** Dispatches the work of a task to the operation that finishes it. */
export const doWork: DoWork = (work, context) => {
  switch (work.kind) {
    case "update-container":
      return containers.finishContainerUpdate(work, context);
    case "update-pool":
      return pools.finishPoolUpdate(work, context);
    case "create-router":
      return routers.finishRouterCreation(work, context);
    default:
      return work satisfies never;
  }
};
