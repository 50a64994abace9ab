import type { Command } from "commander";
import type { Read } from "../contract/operation.ts";
import { READS } from "../contract/operations.ts";
import { getTask, TASK_PATH } from "../contract/tasks.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { ExitCode } from "./exit-code.ts";
import { addFieldOptions } from "./field-options.ts";
import type { ProviderFlags } from "./provider-settings.ts";

interface ReadFlags extends ProviderFlags {
  readonly json?: boolean;
}

const addProviderOptions = (command: Command, operation: Read): Command => {
  command
    .optionsGroup("Who is asked; the key is read from SKYHOOK_API_KEY:")
    .option("--base-url <url>", "address of the provider's API (default: SKYHOOK_BASE_URL)");
  if (operation.id === getTask.id) {
    command.option("--task-path <path>", `path of one task there (default: ${TASK_PATH})`);
  }
  return command.optionsGroup("Output:").option("--json", "print the reply as JSON");
};

/** Adds `read <operation>` with a flag for every field of the contract. */
export const addReadCommands = (
  program: Command,
  clock: Clock,
  end: (exitCode: Promise<ExitCode>) => Promise<void>,
): void => {
  const read = program
    .command("read")
    .description("read something from the provider itself; nothing changes")
    .usage("<operation> [options]")
    .addHelpText("after", "\nThe fields of an operation: npx skyhook read <operation> --help");
  const add = (operation: Read): void => {
    const command = read
      .command(operation.id)
      .description(`${operation.summary} (${operation.reference})`);
    const input = addFieldOptions(command, operation);
    addProviderOptions(command, operation).action((flags: ReadFlags) =>
      end(
        import("./read.ts").then(({ readOperation }) =>
          readOperation(operation, {
            provider: flags,
            environment: process.env,
            input: input(),
            json: flags.json ?? false,
            clock,
          }),
        ),
      ),
    );
  };
  for (const operation of READS) add(operation);
};
