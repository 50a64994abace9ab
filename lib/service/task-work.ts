import { finishContainerUpdate } from "./operations/containers.ts";
import { finishPoolUpdate } from "./operations/load-balancer-pools.ts";
import { finishRouterCreation } from "./operations/router-creation.ts";
import type { DoWork } from "./task-engine.ts";

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
