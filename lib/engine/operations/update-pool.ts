import * as z from "zod";
import { getPool, updatePool as operation } from "../../contract/load-balancer-pools.ts";
import { type CommandOperation, isRefused } from "./operation.ts";

/** How long a pool's own task may take before it is worth looking again. */
const LOCKED_LOOK_MS = 5_000;

/** The uncertain send may have started a task on the pool: only when it is over, the same is sent. */
export const updatePool: CommandOperation = {
  operation,
  beforeSendingAgain: async ({ account, request, now, signal }) => {
    const params = z.parse(getPool.params, request.params);
    const pool = await account.client.call(getPool, { params, query: {}, body: undefined }, signal);
    return pool.task_id === null ? { kind: "send" } : { kind: "wait", until: now + LOCKED_LOOK_MS };
  },
  refusedAgain: isRefused,
};
