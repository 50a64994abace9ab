import { Command, CommanderError } from "commander";
import { SettingsError } from "../lambda/settings.ts";
import { createSystemClock } from "../system/system-clock.ts";
import { createSystemRandom } from "../system/system-random.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { showOperations } from "./operations.ts";
import { printNote } from "./output.ts";
import { addSendCommands } from "./send-commands.ts";
import { type ServiceFlags, serveService } from "./service.ts";
import { start } from "./start.ts";
import type { StartFlags } from "./start-settings.ts";
import { showStatus } from "./status.ts";

const createProgram = (end: (exitCode: Promise<ExitCode>) => Promise<void>): Command => {
  const program = new Command("skyhook")
    .description("Runs operations of a cloud provider by events, and follows them to their end.")
    .exitOverride();
  program
    .command("start")
    .description("run service and automation on this machine, with a demo")
    .option("--exit", "end after the demo; status 0 only if every command ended as expected")
    .option("--json", "print each published event as one JSON line on stdout")
    .option("--no-demo", "send nothing by itself")
    .option("--data <dir>", "keep everything there across runs (otherwise in memory)")
    .option("--port <n>", "port to listen on for commands (otherwise a free one)")
    .option("--service-port <n>", "port of the embedded service (otherwise a free one)")
    .option("--task-seconds <n>", "how long the embedded service's tasks take (otherwise 1.5)")
    .option("--event-source <name>", "source of the events (otherwise skyhook)")
    .option(
      "--base-url <url>",
      "a real provider instead of the embedded service; key in SKYHOOK_API_KEY",
    )
    .option("--api-key-parameter <name>", "SSM parameter with the key, instead of SKYHOOK_API_KEY")
    .option("--task-path <path>", "path of get-task at the provider")
    .option("--no-lists", "the provider's interface lists neither tasks nor notification events")
    .action((flags: StartFlags) => end(start(flags)));
  program
    .command("service")
    .description("run the provider's interface alone")
    .option("--port <n>", "port to listen on (otherwise a free one)")
    .option("--data <dir>", "keep the state there across runs (otherwise in memory)")
    .option("--task-seconds <n>", "how long tasks take (otherwise 1.5)")
    .action((flags: ServiceFlags) => end(serveService(flags)));
  addSendCommands(program, { clock: createSystemClock(), random: createSystemRandom() }, end);
  program
    .command("status")
    .description("show where a command stands")
    .argument("<command id>")
    .option("--json", "print JSON")
    .addOption(endpointOption())
    .action((id: string, flags: { readonly endpoint?: string; readonly json?: boolean }) =>
      end(showStatus(id, { ...flags, endpoint: checkedEndpoint(flags.endpoint) })),
    );
  program
    .command("operations")
    .description("show what can be sent, with every field and limit")
    .argument("[operation]")
    .option("--json", "print JSON")
    .action((id: string | undefined, flags: { readonly json?: boolean }) =>
      showOperations(id, flags),
    );
  return program;
};

const exitCodeOf = (error: unknown): ExitCode => {
  // Commander has already said what is wrong, or shown the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  if (error instanceof ExitError) {
    printNote(error.message);
    return error.exitCode;
  }
  printNote(error instanceof Error ? error.message : String(error));
  return error instanceof SettingsError ? EXIT.refused : EXIT.failed;
};

const main = async (): Promise<void> => {
  // The SDK's advice to upgrade Node is for who chooses its version; that is us, for the functions.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  const program = createProgram(async (exitCode) => {
    process.exitCode = await exitCode;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
};

await main();
