import type { Clock } from "../ports/clock.ts";
import type { CommandDesk } from "./command-desk.ts";
import { checkedEndpoint } from "./endpoint-option.ts";
import { createGatewayClient } from "./gateway-client.ts";
import { checkedStage } from "./stage-option.ts";

export interface DeskFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  /** AWS account whose commands are meant; absent: Skyhook's own. */
  readonly sender?: string;
}

const gatewayDesk = (endpoint: string, sender: string | undefined): CommandDesk => {
  const gateway = createGatewayClient(endpoint);
  return {
    look: (commandId) => gateway.look(commandId, { sender }),
    cancel: (commandId) => gateway.cancel(commandId, sender),
    resolve: (commandId, finding) => gateway.resolve(commandId, sender, finding),
  };
};

/** A stage wins over an endpoint: that may stand in the environment, a stage never does. */
export const openDesk = async (
  { endpoint, stage, sender }: DeskFlags,
  clock: Clock,
): Promise<CommandDesk> => {
  if (stage === undefined) return gatewayDesk(checkedEndpoint(endpoint), sender);
  const name = checkedStage(stage);
  // The AWS SDK takes its time to load.
  const { openStageDesk } = await import("./stage-desk.ts");
  return openStageDesk(name, sender, clock);
};

/** The flags that lead a person's next command to the same command. */
export const deskFlagsText = ({ stage, sender }: DeskFlags): string =>
  [
    stage === undefined ? "" : ` --stage ${stage}`,
    sender === undefined ? "" : ` --sender ${sender}`,
  ].join("");
