import type { CancelAnswer, LiftAnswer, ResolveAnswer, Verdict } from "../admin/answers.ts";
import { createGatewayClient } from "./gateway-client.ts";
import type { RequestState } from "./request-state.ts";

/**
 * Where a person looks at commands and acts on them: a running Skyhook, or the ledger of a deployed
 * stage. Each answers undefined when there is no such command.
 */
export interface CommandDesk {
  look(commandId: string): Promise<RequestState | undefined>;
  cancel(commandId: string): Promise<CancelAnswer | undefined>;
  resolve(commandId: string, verdict: Verdict): Promise<ResolveAnswer | undefined>;
  /** Lets an account send again that the provider has asked to pause; undefined: none of that name. */
  liftPause(account: string): Promise<LiftAnswer | undefined>;
  /** When events and lanes follow what is written here, in words; absent: at once. */
  readonly followsLater?: string;
}

/** The commands of the running Skyhook at an address. Its methods throw an ExitError when it is not reached. */
export const gatewayCommandDesk = (endpoint: string, sender: string | undefined): CommandDesk => {
  const gateway = createGatewayClient(endpoint);
  return {
    look: (commandId) => gateway.look(commandId, { sender }),
    cancel: (commandId) => gateway.cancel(commandId, sender),
    liftPause: gateway.liftPause,
    resolve: (commandId, verdict) => gateway.resolve(commandId, sender, verdict),
  };
};
