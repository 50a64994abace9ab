import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../../contract/load-balancer-pools.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../../contract/tasks.ts";
import { addFaultOptions } from "../fault-flags.ts";
import { addReachOptions } from "../reach-flags.ts";
import { readStartSettings, type StartFlags } from "../start-settings.ts";
import { addExamples, type DeclareVerb, ending } from "../verb.ts";

const DESCRIPTION = `Runs Skyhook and the embedded service (an implementation of the provider's API) in one process, until Ctrl-C. The demo sends some commands and prints a line for each published event: time, lane, command, result and duration.

With --base-url, Skyhook works on a real provider instead. There is no demo then, and nothing is sent except your commands and the jobs that you configure.

With --data, a run continues where the last one ended, even after a kill. Only the user can read the folder: files have mode 0600, folders 0700.

Skyhook reads the accounts, reactions, thresholds and watchlist files again when they change.`;

export const declareStart: DeclareVerb = (command, ports) => {
  addExamples(command.description(DESCRIPTION), [
    "npx skyhook start",
    "npx skyhook start --exit                  # status 0 if the demo succeeds",
    "npx skyhook start --json --data ~/skyhook # events as JSON, state on disk",
    "npx skyhook start --accounts accounts.yaml --reactions reactions.yaml",
    "npx skyhook start --base-url https://api.example.com --data ~/skyhook",
  ])
    .option("--exit", "end after the demo; status 0 only if every step ended as expected")
    .option("--json", "print each published event as one JSON line on stdout")
    .option("--no-demo", "start without the demo")
    .option("--data <dir>", "folder for the state of the run (default: state in memory)")
    .option("--port <n>", "port for commands (default: 4747, or the next free one)")
    .option("--event-source <name>", "`source` of the published events (default: skyhook)");
  addReachOptions(command)
    .optionsGroup("Access and reactions:")
    .option("--accounts <file>", "accounts at the provider, and the senders that may use them")
    .option("--reactions <file>", "rules that turn events into commands")
    .optionsGroup("Scheduled jobs:")
    .option("--thresholds <file>", "keep the provider's thresholds equal to this file")
    .option("--watchlist <file>", "record the prices of the items in this file every hour")
    .option(
      "--ai-tasks <which>",
      "watch AI tasks: all, transcription or content-moderation (default: all for the embedded service, none for a real provider)",
    )
    .optionsGroup("Embedded service:")
    .option("--service-port <n>", "port of the service (default: a free one)")
    .option("--task-seconds <n>", "duration of its tasks, seconds (default: 1.5)")
    .option("--control", "its clock, state and more under /_skyhook/, as of `skyhook service`");
  addFaultOptions(command)
    .optionsGroup("Real provider, with the API key in SKYHOOK_API_KEY:")
    .option("--base-url <url>", "address of the provider's API, such as https://api.example.com")
    .option(
      "--api-key-parameter <name>",
      "AWS SSM parameter with the key, instead of SKYHOOK_API_KEY",
    )
    .option(
      "--task-path <path>",
      `path of a task: ${TASK_PATH} (default) or ${PUBLISHED_TASK_PATH}`,
    )
    .option(
      "--pool-path <path>",
      `path of a pool's update: ${POOL_PATH} (default) or ${POOL_SUCCESSOR_PATH}`,
    )
    .option("--no-lists", "for an API that lists neither tasks nor storage notification events")
    .action(
      ending(async (flags: StartFlags) => {
        const settings = readStartSettings(flags, process.env);
        return (await import("../local-run.ts")).startLocally(settings, flags, ports);
      }),
    );
};
