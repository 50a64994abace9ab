import type { Context } from "aws-lambda";
import type { CommandFunctionDeps } from "../../../functions/command-deps.ts";
import { lambdaContext } from "../../../lib/local/lambda-context.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import type { Around } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createWorld } from "../../support/world.ts";

/** A world in memory with the embedded service, for handlers that are called as AWS calls them. */
export const createFunctionWorld = async (around?: Around) => {
  const calls: string[] = [];
  const watched: Around = (call, effect) => {
    calls.push(call.name);
    return around ? around(call, effect) : effect();
  };
  const world = await createWorld({ provider: startProvider, around: watched });
  const bound: Context[] = [];
  const deps = async (): Promise<CommandFunctionDeps> => ({
    // The test moves the time: an invocation that sleeps waits for it.
    commands: { ...world.newInvocation().deps, clock: world.clock },
    log: { ...world.log, bind: (context) => void bound.push(context) },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  });
  const contextOf = (timeoutMs: number): Context =>
    lambdaContext("skyhook-dev", timeoutMs, { clock: world.clock, random: createSeededRandom(3) });
  return {
    ...world,
    deps,
    contextOf,
    /** Contexts that the log was bound to. */
    bound,
    /** Names of the port calls so far. */
    calls,
  };
};

/** Makes every port call fail whose name contains the text. */
export const failing =
  (text: string): Around =>
  (call, effect) =>
    call.name.includes(text) ? Promise.reject(new Error(`${text} is away`)) : effect();
