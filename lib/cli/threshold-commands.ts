import type { Command } from "commander";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ThresholdFlags } from "./thresholds.ts";

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
  const optionsOf = (flags: ThresholdFlags) => ({ flags, environment: process.env, ...ports });

  add("plan <file>", "show what the file would change, as a diff; nothing changes")
    .option("--no-lists", noLists)
    .action((file: string, flags: ThresholdFlags) =>
      end(import("./thresholds.ts").then((it) => it.planThresholds(file, optionsOf(flags)))),
    );
  add("apply <file>", "change what the file wants changed")
    .option("--no-lists", noLists)
    .action((file: string, flags: ThresholdFlags) =>
      end(import("./thresholds.ts").then((it) => it.applyThresholds(file, optionsOf(flags)))),
    );
  add("pull [file]", "write what the provider has as such a file, or print it").action(
    (file: string | undefined, flags: ThresholdFlags) =>
      end(import("./thresholds.ts").then((it) => it.pullThresholds(file, optionsOf(flags)))),
  );
};
