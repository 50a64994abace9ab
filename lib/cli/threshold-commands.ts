import type { Command } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ApplyFlags, PlanFlags, ThresholdFlags } from "./thresholds.ts";

/** Adds `thresholds plan | apply | pull`. */
export const addThresholdCommands = (
  program: Command,
  ports: { readonly clock: Clock; readonly random: Random },
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const thresholds = program
    .command("thresholds")
    .description("compare a thresholds file with the provider, apply it, or write one");
  const add = (usage: string, description: string): Command =>
    thresholds
      .command(usage)
      .description(description)
      .optionsGroup("Whose thresholds; the key is read from SKYHOOK_API_KEY:")
      .option("--base-url <url>", "address of the provider's API (default: SKYHOOK_BASE_URL)");
  const noLists = "its API cannot list storage notification events";
  const optionsOf = <F extends ThresholdFlags>(flags: F) => ({
    flags,
    environment: process.env,
    ...ports,
  });

  add("plan <file>", "show what the file would change, as a diff; nothing changes")
    .option("--no-lists", noLists)
    .option("--json", "print the plan as JSON")
    .option("--detailed-exitcode", "status 0: no change, 2: changes, 1: any error")
    .action((file: string, flags: PlanFlags) =>
      end(import("./thresholds.ts").then((it) => it.planThresholds(file, optionsOf(flags)))),
    );
  add("apply <file>", "change what the file wants changed; asks before it deletes")
    .option("--no-lists", noLists)
    .option("--yes", "delete without asking")
    .action((file: string, flags: ApplyFlags) =>
      end(import("./thresholds.ts").then((it) => it.applyThresholds(file, optionsOf(flags)))),
    );
  add("pull [file]", "write what the provider has as such a file, or print it").action(
    (file: string | undefined, flags: ThresholdFlags) =>
      end(import("./thresholds.ts").then((it) => it.pullThresholds(file, optionsOf(flags)))),
  );
};
