import { type Command, Option } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import { endpointOption } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { type DeadLetterDeskFlags, openDeadLetterDesk } from "./open-desk.ts";
import { stageOption } from "./stage-option.ts";

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
}

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
    .action((flags: DeadLetterDeskFlags) =>
      end(
        (async () => {
          const desk = await openDeadLetterDesk(flags, ports);
          return (await import("./dead-letters.ts")).showDeadLetters(desk, flags);
        })(),
      ),
    );
  withDesk(dead.command("delete"))
    .description("delete those that are done, or of which nothing can come")
    .argument("<id...>", "as `skyhook dead-letters` shows them")
    .option("--force", "also requests that nobody has accepted: they are lost")
    .action((ids: string[], flags: DeadLetterDeskFlags & { readonly force?: boolean }) =>
      end(
        (async () => {
          const desk = await openDeadLetterDesk(flags, ports);
          return (await import("./dead-letters.ts")).removeDeadLetters(desk, ids, flags);
        })(),
      ),
    );
  withDesk(program.command("redrive"))
    .description("send dead letters back into their queues")
    .argument("[id...]", "as `skyhook dead-letters` shows them")
    .option("--all", "every one for which that makes sense")
    .action((ids: string[], flags: DeadLetterDeskFlags & { readonly all?: boolean }) =>
      end(
        (async () => {
          if (ids.length > 0 === (flags.all ?? false)) {
            throw new ExitError(EXIT.refused, "redrive: give ids, or --all");
          }
          const desk = await openDeadLetterDesk(flags, ports);
          const selection = flags.all
            ? ({ kind: "all" } as const)
            : ({ kind: "ids", ids } as const);
          return (await import("./dead-letters.ts")).redrive(desk, selection, flags);
        })(),
      ),
    );
};
