import type { Command } from "commander";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { ExitCode } from "./exit-code.ts";
import type { FileFlags } from "./reaction-files.ts";
import type { TestFlags } from "./reactions.ts";

/** Adds `reactions test | check`. */
export const addReactionCommands = (
  program: Command,
  ports: { readonly clock: Clock; readonly random: Random },
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const reactions = program
    .command("reactions")
    .description("look at the rules that turn events into commands; nothing is sent");
  const add = (usage: string, description: string): Command =>
    reactions
      .command(usage)
      .description(description)
      .option("--accounts <file>", "accounts file (default: accounts.yaml, if it is there)")
      .option("--event-source <name>", "`source` of Skyhook's own events (default: skyhook)");

  add("test <rule> <event>", "show the command that a rule makes of an event")
    .option("--reactions <file>", "reactions file (default: reactions.yaml)")
    .option("--own <aws-account>", "the AWS account that Skyhook runs in")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\n<event> is a file with one event, as put-event takes it: source, detail-type and\ndetail; id, account and time are filled in where they are missing. - reads it\nfrom standard input.",
    )
    .action((rule: string, event: string, flags: TestFlags) =>
      end(import("./reactions.ts").then((it) => it.testReaction(rule, event, flags, ports))),
    );
  add("check [file]", "list every mistake of a reactions file with its line").action(
    (file: string | undefined, flags: FileFlags) =>
      end(import("./reactions.ts").then((it) => it.checkReactions(file, flags))),
  );
};
