import middy from "@middy/core";
import { callFields } from "../../lib/intake/bus-event.ts";
import { takeIn } from "../../lib/intake/take-in.ts";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import { getDeps, type IntakeFunctionDeps } from "./deps.ts";

/** Takes in what the rules of the buses send; whoever calls it has been let in by them. */
export const createHandler = (deps: () => Promise<IntakeFunctionDeps>) =>
  middy<unknown, void>()
    .use(errorBoundary(async () => (await deps()).log, callFields))
    .handler(async (call, context) => {
      const { intake, log } = await deps();
      log.bind(context);
      await takeIn(intake, call);
    });

export const handler = createHandler(getDeps);
