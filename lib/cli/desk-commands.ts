import type { Command } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { CancelFlags } from "./cancel.ts";
import { endpointOption } from "./endpoint-option.ts";
import type { ExitCode } from "./exit-code.ts";
import type { CommandDeskFlags } from "./open-desk.ts";
import type { ResolveFlags } from "./resolve.ts";
import { stageOption } from "./stage-option.ts";

/** Longer than any request is on its way (see ATTEMPT_LEASE_MS). */
const DEFAULT_WAIT_SECONDS = "60";

/** Adds `status`, `cancel`, `resolve` and `lift-pause`. */
export const addDeskCommands = (
  program: Command,
  clock: Clock,
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const add = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .argument("<command-id>", "as `skyhook send` printed it, or as given by --id")
      .option("--sender <aws-account>", "whose command it is (default: Skyhook's own)")
      .option("--json", "print JSON")
      .addOption(endpointOption())
      .addOption(stageOption());

  add("status", "show where a command stands, every request of it, and what can be done").action(
    (id: string, flags: CommandDeskFlags) =>
      end(import("./status.ts").then((it) => it.showStatus(id, flags, clock))),
  );
  add("cancel", "end a command that nobody wants any more")
    .option(
      "--wait-seconds <n>",
      "wait so long for a request that is on its way",
      DEFAULT_WAIT_SECONDS,
    )
    .action((id: string, flags: CancelFlags) =>
      end(import("./cancel.ts").then((it) => it.cancel(id, flags, clock))),
    );
  add("resolve", "say what became of a command that ended as unknown-outcome")
    .option("--applied", "it took effect")
    .option("--not-applied", "it did not take effect")
    .option("--note <text>", "in your words, for whoever gets the event; nothing secret")
    .action((id: string, flags: ResolveFlags) =>
      end(import("./resolve.ts").then((it) => it.resolve(id, flags, clock))),
    );
  program
    .command("lift-pause")
    .description("let an account send again that the provider has asked to pause")
    .argument("<account>", "as accounts.yaml names it; `local` where there is no such file")
    .option("--json", "print JSON")
    .addOption(endpointOption())
    .addOption(stageOption())
    .action((account: string, flags: CommandDeskFlags) =>
      end(import("./lift-pause.ts").then((it) => it.liftPause(account, flags, clock))),
    );
};
