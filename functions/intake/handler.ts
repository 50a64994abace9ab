import middy from "@middy/core";
import type { EventBridgeEvent } from "aws-lambda";
import { type IntakeDeps, takeIn } from "../../lib/intake/take-in.ts";
import { errorBoundary } from "../../lib/lambda/error-boundary.ts";
import type { InvocationLog } from "../../lib/lambda/invocation-log.ts";
import { getDeps } from "./deps.ts";

export interface IntakeFunctionDeps {
  readonly intake: IntakeDeps;
  readonly log: InvocationLog;
}

/** How a rule calls: with the event, or with the event and the reaction that the rule is of. */
type Call =
  | EventBridgeEvent<string, unknown>
  | { readonly reaction: string; readonly event: EventBridgeEvent<string, unknown> };

/** Takes in what the rules of the buses send; whoever calls it has been let in by them. */
export const createHandler = (deps: () => Promise<IntakeFunctionDeps>) =>
  middy<Call, void>()
    .use(errorBoundary(async () => (await deps()).log))
    .handler(async (call, context) => {
      const { intake, log } = await deps();
      log.bind(context);
      await takeIn(intake, call);
    });

export const handler = createHandler(getDeps);
