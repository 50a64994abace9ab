import type { Context } from "aws-lambda";
import { lambdaContext } from "../../../lib/local/aws-events.ts";
import type { Skyhook, SkyhookConfig, SkyhookPorts } from "../../../lib/skyhook.ts";
import type { Around } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createWorld } from "../../support/world.ts";

/** A world in memory with the embedded service, to call handlers as AWS does. */
export const createFunctionWorld = async (around?: Around) => {
  const calls: string[] = [];
  const watched: Around = (call, effect) => {
    calls.push(call.name);
    return around ? around(call, effect) : effect();
  };
  const world = await createWorld({ provider: startProvider, around: watched });
  const bound: Context[] = [];
  return {
    ...world,
    /** The functions of one sandbox; `own` replaces defaults of all tests. */
    skyhook: (own: Partial<SkyhookPorts & SkyhookConfig> = {}): Skyhook => {
      const log = { ...world.log, bind: (context: Context) => void bound.push(context) };
      return world.newInvocation().skyhook({ log, ...own });
    },
    contextOf: (timeoutMs: number): Context =>
      lambdaContext("skyhook-dev", timeoutMs, {
        clock: world.clock,
        random: createSeededRandom(3),
      }),
    /** Contexts of the log's bindings. */
    bound,
    /** Names of the port calls so far. */
    calls,
  };
};

/** Makes every port call fail if its name contains the text. */
export const failing =
  (text: string): Around =>
  (call, effect) =>
    call.name.includes(text) ? Promise.reject(new Error(`${text} is away`)) : effect();
