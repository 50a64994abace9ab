import { readFile } from "node:fs/promises";
import * as z from "zod";
import { quietAfter } from "../../local/closing.ts";
import { OWNER_ONLY, openDataDirectory, withDataError } from "../../local/data-directory.ts";
import type { Provider } from "../../local/provider.ts";
import { readSettings, wholeNumber } from "../../platform/lambda/settings.ts";
import type { State } from "../../service/state/state.ts";
import { EXIT, type ExitCode, ExitError } from "../exit-code.ts";
import { apiKeySetting } from "../provider.ts";
import { printNote, printResult, problemLines, terminalLog } from "../render.ts";
import { failedBy, stopSignal, untilAborted } from "../stop-signal.ts";
import { type DeclareVerb, ending, type Ports } from "../verb.ts";

interface ServiceFlags {
  readonly port?: string;
  readonly apiKey?: string;
  readonly seed?: string;
  readonly printSeed?: boolean;
  readonly data?: string;
  readonly taskSeconds?: string;
  readonly rateLimit?: string;
  readonly allowHost?: string;
}

/** A folder to keep data in. Empty is a mistake, such as a shell variable that is not set. */
export const directorySetting = z.string().min(1).optional();

/** 0 takes any free port. */
export const portSetting = wholeNumber(0, 65_535).default(0);

/** How long the embedded service's background tasks take; short enough to watch, long enough to see. */
export const taskSecondsSetting = z
  .string()
  .regex(/^\d+(\.\d+)?$/, { error: "a number of seconds" })
  .transform(Number)
  .pipe(z.number().max(3600))
  .default(1.5);

const hostNames = z
  .string()
  .regex(/^[\w.-]+(,[\w.-]+)*$/, {
    error: "host names such as cloud.internal, without scheme or port, separated by commas",
  })
  .transform((names) => names.split(","));

const settingsSchema = z.object({
  "--port": portSetting,
  "--api-key": apiKeySetting.optional(),
  "--seed": z.string().min(1).optional(),
  "--data": directorySetting,
  "--task-seconds": taskSecondsSetting,
  "--rate-limit": wholeNumber(1, 1_000_000).optional(),
  "--allow-host": hostNames.optional(),
});

const MAX_SHOWN_PROBLEMS = 20;

/** @throws ExitError when the file cannot be read or holds something else than a state */
const readSeedFile = async (path: string): Promise<State> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ExitError(EXIT.refused, `--seed: cannot read ${path} (${error.code})`);
  });
  const { readSeed, SeedError } = await import("../../service/seed.ts");
  try {
    return readSeed(text);
  } catch (error) {
    if (!(error instanceof SeedError)) throw error;
    const lines = problemLines(error.problems.slice(0, MAX_SHOWN_PROBLEMS));
    const left = error.problems.length - lines.length;
    throw new ExitError(
      EXIT.refused,
      [
        `--seed: ${path} is not a state of the service (--print-seed shows one):`,
        ...lines,
        ...(left > 0 ? [`  and ${left} more`] : []),
      ].join("\n"),
    );
  }
};

/** Runs the provider's interface alone, until it is stopped. */
const serve = async (flags: ServiceFlags, { clock, random }: Ports): Promise<ExitCode> => {
  const settings = readSettings(settingsSchema, {
    "--port": flags.port,
    "--api-key": flags.apiKey,
    "--seed": flags.seed,
    "--data": flags.data,
    "--task-seconds": flags.taskSeconds,
    "--rate-limit": flags.rateLimit,
    "--allow-host": flags.allowHost,
  });
  const { "--data": directory, "--seed": seedPath, "--api-key": apiKey } = settings;
  if (directory !== undefined) process.umask(OWNER_ONLY);
  const seed = seedPath === undefined ? undefined : await readSeedFile(seedPath);
  const signal = stopSignal(clock);
  const failing = new AbortController();
  const log = quietAfter(terminalLog, failing.signal);
  const { openProvider } = await import("../../local/provider.ts");
  const provider = await withDataError(directory, async () => {
    const data = directory === undefined ? undefined : await openDataDirectory(directory, random);
    const taskDurationMs = Math.round(settings["--task-seconds"] * 1000);
    const requestsPerSecond = settings["--rate-limit"];
    return openProvider(
      {
        kind: "embedded",
        port: settings["--port"],
        taskDurationMs,
        seed,
        apiKey,
        requestsPerSecond,
        allowedHosts: settings["--allow-host"],
      },
      { clock, random, log, data, failing },
    );
  });
  printResult(provider.baseUrl);
  printNote(howToAsk(provider, apiKey === undefined));
  try {
    await Promise.race([
      untilAborted(signal),
      withDataError(directory, () => failedBy(failing.signal)),
    ]);
  } finally {
    await provider.close();
  }
  return EXIT.ok;
};

/** A key that the user gave is theirs to know; only the built-in one is shown. */
const howToAsk = ({ baseUrl, builtInKey }: Provider, needsKey: boolean): string =>
  [
    `the service listens there; what it can do: ${baseUrl}/docs`,
    `  export SKYHOOK_BASE_URL=${baseUrl}`,
    ...(needsKey && builtInKey ? [`  export SKYHOOK_API_KEY='${builtInKey}'`] : []),
    "  npx skyhook read list-tasks",
  ].join("\n");

export const declareService: DeclareVerb = (command, ports) => {
  command
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
    .action(
      ending(async (flags: ServiceFlags) => {
        if (!flags.printSeed) return serve(flags, ports);
        const { formatSeed } = await import("../../service/seed.ts");
        const { builtInState } = await import("../../service/state/state.ts");
        printResult(formatSeed(builtInState()));
        return EXIT.ok;
      }),
    );
};
