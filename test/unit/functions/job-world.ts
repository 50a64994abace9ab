import type { Context } from "aws-lambda";
import type { JobDeps } from "../../../functions/deps.ts";
import { DEFAULT_ACCOUNT } from "../../../lib/provider/accounts.ts";
import type { Around } from "../../support/faults.ts";
import { createFunctionWorld } from "./function-world.ts";

/** What a standing job's handler is composed of, over the embedded service. */
export const createJobWorld = async (around?: Around) => {
  const world = await createFunctionWorld(around);
  const deps = async (): Promise<JobDeps> => {
    const { commands, log } = await world.deps();
    const account = commands.accountOf(DEFAULT_ACCOUNT);
    if (!account) throw new Error("no account");
    return { ...commands, log, account };
  };
  return { ...world, deps, context: (): Context => world.contextOf(300_000) };
};
