import { type Command, Option } from "commander";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { DeadLetterDesk } from "./dead-letter-desk.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { checkedStage, stageOption } from "./stage-option.ts";

interface DeskFlags {
  readonly endpoint?: string;
  readonly stage?: string;
  readonly accounts?: string;
  readonly json?: boolean;
}

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

/** The AWS SDK is loaded only where a stage is asked for. */
const deskOf = async (flags: DeskFlags, ports: Ports): Promise<DeadLetterDesk> => {
  const { stage } = flags;
  if (stage === undefined) {
    if (flags.accounts !== undefined) {
      throw new ExitError(
        EXIT.refused,
        "--accounts: only with --stage; a running Skyhook has its own",
      );
    }
    const endpoint = checkedEndpoint(flags.endpoint);
    return (await import("./dead-letter-desk.ts")).gatewayDesk(endpoint);
  }
  const { readAccounts } = await import("./reaction-files.ts");
  const accounts = flags.accounts === undefined ? undefined : readAccounts(flags.accounts);
  const { stageDeadLetters } = await import("./dead-letter-stage.ts");
  return stageDeadLetters({ stage: checkedStage(stage), accounts, ...ports });
};

const accountsOption = (): Option =>
  new Option(
    "--accounts <file>",
    "who may do what in that stage (default: rights are not checked)",
  );

const withDesk = (command: Command): Command =>
  command
    .option("--json", "print JSON")
    .addOption(endpointOption())
    .addOption(stageOption())
    .addOption(accountsOption());

/** Adds `dead-letters [list | delete]` and `redrive`. */
export const addDeadLetterCommands = (
  program: Command,
  ports: Ports,
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const dead = program
    .command("dead-letters")
    .description("messages that could not be handled: what they are, and what to do with them");
  withDesk(dead.command("list", { isDefault: true }))
    .description("explain each of them")
    .action((flags: DeskFlags) =>
      end(
        (async () => {
          const desk = await deskOf(flags, ports);
          return (await import("./dead-letters.ts")).showDeadLetters(desk, flags);
        })(),
      ),
    );
  withDesk(dead.command("delete"))
    .description("delete those that are done, or of which nothing can come")
    .argument("<id...>", "as `skyhook dead-letters` shows them")
    .option("--force", "also requests that nobody has accepted: they are lost")
    .action((ids: string[], flags: DeskFlags & { readonly force?: boolean }) =>
      end(
        (async () => {
          const desk = await deskOf(flags, ports);
          return (await import("./dead-letters.ts")).removeDeadLetters(desk, ids, flags);
        })(),
      ),
    );
  withDesk(program.command("redrive"))
    .description("send dead letters back into the command queue")
    .argument("[id...]", "as `skyhook dead-letters` shows them")
    .option("--all", "every one for which that makes sense")
    .action((ids: string[], flags: DeskFlags & { readonly all?: boolean }) =>
      end(
        (async () => {
          if (ids.length > 0 === (flags.all ?? false)) {
            throw new ExitError(EXIT.refused, "redrive: give ids, or --all");
          }
          const desk = await deskOf(flags, ports);
          const selection = flags.all
            ? ({ kind: "all" } as const)
            : ({ kind: "ids", ids } as const);
          return (await import("./dead-letters.ts")).redrive(desk, selection, flags);
        })(),
      ),
    );
};
