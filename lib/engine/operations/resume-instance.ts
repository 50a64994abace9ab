import * as z from "zod";
import { getInstance, resumeInstance as operation } from "../../contract/instances.ts";
import { type CommandOperation, sendAgain } from "./operation.ts";

/**
 * Only a suspended instance can be resumed, so a refusal after an uncertain send is expected when
 * that send did it: the instance itself tells.
 */
export const resumeInstance: CommandOperation = {
  operation,
  beforeSendingAgain: sendAgain,
  refusedAgain: async ({ account, request, signal }, refusal) => {
    if (refusal.code !== "refused") return { kind: "refused" };
    const params = z.parse(getInstance.params, request.params);
    const instance = await account.client.call(
      getInstance,
      { params, query: {}, body: undefined },
      signal,
    );
    return { kind: instance.vm_state === "active" ? "done" : "refused" };
  },
};
