import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { CommandDesk } from "./command-desk.ts";
import type { DeadLetterDesk } from "./dead-letter-desk.ts";
import { checkedEndpoint } from "./endpoint-option.ts";
import { EXIT, ExitError } from "./exit-code.ts";
import { shellWord } from "./shell-word.ts";
import { checkedStage } from "./stage-option.ts";

/** Which Skyhook a person means. A stage wins over an endpoint: that may stand in the environment. */
interface DeskFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly json?: boolean;
}

export interface CommandDeskFlags extends DeskFlags {
  /** AWS account whose commands are meant; absent: Skyhook's own. */
  readonly sender?: string;
}

export interface DeadLetterDeskFlags extends DeskFlags {
  readonly accounts?: string;
}

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** The AWS SDK takes its time to load, so it is loaded only where a stage is asked for. */
export const openCommandDesk = async (
  { endpoint, stage, sender }: CommandDeskFlags,
  clock: Clock,
): Promise<CommandDesk> => {
  if (stage === undefined) {
    const address = checkedEndpoint(endpoint);
    return (await import("./command-desk.ts")).gatewayCommandDesk(address, sender);
  }
  const name = checkedStage(stage);
  return (await import("./stage-command-desk.ts")).stageCommandDesk(name, sender, clock);
};

/** As `openCommandDesk`. */
export const openDeadLetterDesk = async (
  { endpoint, stage, accounts: file }: DeadLetterDeskFlags,
  ports: Ports,
): Promise<DeadLetterDesk> => {
  if (stage === undefined) {
    if (file !== undefined) {
      const text = "--accounts: only with --stage; a running Skyhook has its own";
      throw new ExitError(EXIT.refused, text);
    }
    const address = checkedEndpoint(endpoint);
    return (await import("./dead-letter-desk.ts")).gatewayDeadLetterDesk(address);
  }
  const name = checkedStage(stage);
  const { readAccounts } = await import("./reaction-files.ts");
  const accounts = file === undefined ? undefined : readAccounts(file);
  const { stageDeadLetterDesk } = await import("./stage-dead-letter-desk.ts");
  return stageDeadLetterDesk({ stage: name, accounts, ...ports });
};

/**
 * The flags that lead a person's next command to the same command.
 * @param known where the next one looks without a flag
 */
export const deskFlagsText = (
  { endpoint, stage, sender }: CommandDeskFlags,
  known: string | undefined,
): string => {
  const where =
    stage === undefined
      ? endpoint !== undefined && endpoint !== known && ` --endpoint ${shellWord(endpoint)}`
      : ` --stage ${stage}`;
  return `${where || ""}${sender === undefined ? "" : ` --sender ${shellWord(sender)}`}`;
};
