import { Argument, Command, CommanderError } from "commander";
import { version } from "../../package.json";
import { POOL_PATH } from "../contract/load-balancer-pools.ts";
import { TASK_PATH } from "../contract/tasks.ts";
import { JOB_NAMES, type JobName } from "../local/job-run.ts";
import { createSystemClock } from "../platform/system-clock.ts";
import { createSystemRandom } from "../platform/system-random.ts";
import { addDeadLetterCommands } from "./dead-letter-commands.ts";
import { addDeskCommands } from "./desk-commands.ts";
import { checkedEndpoint, endpointOption } from "./endpoint-option.ts";
import { programEnd } from "./error-text.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { showOperations } from "./operations.ts";
import { endWithoutReader, printNote } from "./output.ts";
import { addPriceCommands } from "./price-commands.ts";
import { addReactionCommands } from "./reaction-commands.ts";
import { addReadCommands } from "./read-commands.ts";
import type { RunJobFlags } from "./run-job.ts";
import { addSendCommands } from "./send-commands.ts";
import type { ServiceFlags } from "./service.ts";
import { stageOption } from "./stage-option.ts";
import type { StartFlags } from "./start-settings.ts";
import { addThresholdCommands } from "./threshold-commands.ts";

const EXAMPLES = `
First steps:
  npx skyhook start                          everything on this machine, with a demo
  npx skyhook operations                     what can be sent and read
  npx skyhook operations update-container    its fields and their limits
  npx skyhook send resume-instance --help    how to send one
  npx skyhook read get-instance --help       how to look at what it did

Exit status:
  ${EXIT.ok}  done
  ${EXIT.failed}  the command or the job failed, or the demo did not end as expected
  ${EXIT.refused}  refused: wrong usage, wrong settings or a rejected request
  ${EXIT.unreachable}  nothing answers at the given address
  ${EXIT.timedOut}  waited long enough; the command goes on`;

const addStart = (program: Command): Command =>
  program
    .command("start")
    .description("run the provider's service and the automation on this machine, with a demo")
    .option("--exit", "end after the demo; status 0 only if every command ended as expected")
    .option("--json", "print each published event as one JSON line on stdout")
    .option("--no-demo", "start without the demo's commands")
    .option("--data <dir>", "keep everything in this folder across runs (default: in memory)")
    .option("--port <n>", "port that takes commands (default: 4747, or the next free one)")
    .option("--event-source <name>", "`source` of the published events (default: skyhook)")
    .optionsGroup("Teams in other AWS accounts:")
    .option("--accounts <file>", "who may use which account at the provider")
    .option("--reactions <file>", "which events become commands")
    .optionsGroup("Scheduled jobs:")
    .option("--thresholds <file>", "keep the provider's thresholds as this file wants them")
    .option("--watchlist <file>", "price what this file lists, every hour")
    .option(
      "--ai-tasks <which>",
      "watch AI tasks: all, transcription or content-moderation (default: all of the embedded service's, none of a real provider's)",
    )
    .optionsGroup("The embedded service:")
    .option("--service-port <n>", "its port (default: a free one)")
    .option("--task-seconds <n>", "how long its tasks take (default: 1.5)")
    .optionsGroup("A real provider instead; the key is read from SKYHOOK_API_KEY:")
    .option("--base-url <url>", "address of its API, such as https://api.example.com")
    .option("--api-key-parameter <name>", "AWS SSM parameter with the key")
    .option("--task-path <path>", `path of one task there (default: ${TASK_PATH})`)
    .option("--pool-path <path>", `path of a pool's update there (default: ${POOL_PATH})`)
    .option("--no-lists", "its API can list neither tasks nor storage notification events");

const createProgram = (end: (exitCode: Promise<ExitCode>) => Promise<void>): Command => {
  const program = new Command("skyhook")
    .description("Sends commands to a cloud provider's API and follows them to their end.")
    .version(version, "--version", "print the version")
    .configureHelp({ helpWidth: Math.min(process.stdout.columns ?? 100, 110) })
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  // What runs here is loaded only when it runs: a send must not wait for a database to load.
  addStart(program).action((flags: StartFlags) =>
    end(import("./start.ts").then(({ start }) => start(flags))),
  );
  program
    .command("service")
    .description("run the provider's service alone")
    .option("--port <n>", "port to listen on (default: a free one)")
    .option("--api-key <key>", "one more key, of client 1, for every project of the state")
    .option("--seed <file>", "start with this state (default: the built-in one)")
    .option("--print-seed", "print the built-in state as --seed takes it, and end")
    .option("--data <dir>", "keep its state in this folder across runs (default: in memory)")
    .option("--task-seconds <n>", "how long its tasks take (default: 1.5)")
    .option("--rate-limit <n>", "requests a second for each key (default: any number)")
    .option(
      "--allow-host <names>",
      "answer requests to these host names, too (default: 127.0.0.1, localhost and [::1] only)",
    )
    .action((flags: ServiceFlags) =>
      end(import("./service.ts").then(({ serveService }) => serveService(flags))),
    );
  const clock = createSystemClock();
  addSendCommands(program, { clock, random: createSystemRandom() }, end);
  addReadCommands(program, clock, end);
  addPriceCommands(program, clock, end);
  addReactionCommands(program, { clock, random: createSystemRandom() }, end);
  addDeadLetterCommands(program, { clock, random: createSystemRandom() }, end);
  addThresholdCommands(program, { clock, random: createSystemRandom() }, end);
  program
    .command("run")
    .description("run a scheduled job now, as its schedule does, and wait for its end")
    .addArgument(new Argument("<job>").choices(JOB_NAMES))
    .option("--json", "print JSON")
    .addOption(endpointOption())
    .addOption(stageOption())
    .action((job: JobName, flags: RunJobFlags) =>
      end(
        import("./run-job.ts").then((it) =>
          it.runJob(job, flags, { clock, random: createSystemRandom() }),
        ),
      ),
    );
  program
    .command("put-event")
    .description("put an event on the bus of a running Skyhook, as an AWS account does")
    .argument("<file>", "the event: source, detail-type, detail; - for standard input")
    .option("--from <aws-account>", "AWS account that puts it (default: Skyhook's own)")
    .option("--bus <name>", "`default`: the bus where AWS services put theirs")
    .addOption(endpointOption())
    .action((file: string, flags: { endpoint?: string; from?: string; bus?: string }) =>
      end(
        import("./put-event.ts").then(({ putEvent }) =>
          putEvent(file, {
            endpoint: checkedEndpoint(flags.endpoint),
            from: flags.from,
            bus: flags.bus,
          }),
        ),
      ),
    );
  addDeskCommands(program, clock, end);
  program
    .command("operations")
    .description("show what can be sent and read, with every field and limit")
    .argument("[operation]", "only this one, with all its fields")
    .option("--json", "print JSON")
    .action((id: string | undefined, flags: { readonly json?: boolean }) =>
      showOperations(id, flags),
    );
  return program;
};

const exitCodeOf = (error: unknown): ExitCode => {
  // Commander has already said what is wrong, or shown the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.refused;
  const { exitCode, text } = programEnd(error);
  printNote(text);
  return exitCode;
};

const main = async (): Promise<void> => {
  // The SDK's advice to upgrade Node is for who chooses its version; that is us, for the functions.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  endWithoutReader();
  const program = createProgram(async (exitCode) => {
    process.exitCode = await exitCode;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    const exitCode = exitCodeOf(error);
    // Status 2 means changes there, so that no error may end with it.
    const isDetailed = process.argv.includes("--detailed-exitcode");
    process.exitCode = isDetailed && exitCode !== EXIT.ok ? EXIT.failed : exitCode;
  }
};

await main();
