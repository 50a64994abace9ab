import { POOL_PATH } from "../../contract/load-balancer-pools.ts";
import { TASK_PATH } from "../../contract/tasks.ts";
import { readStartSettings, type StartFlags } from "../start-settings.ts";
import { type DeclareVerb, ending } from "../verb.ts";

export const declareStart: DeclareVerb = (command, ports) => {
  command
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
    .option("--no-lists", "its API can list neither tasks nor storage notification events")
    .action(
      ending(async (flags: StartFlags) => {
        const settings = readStartSettings(flags, process.env);
        return (await import("../local-run.ts")).startLocally(settings, flags, ports);
      }),
    );
};
