import { readFile } from "node:fs/promises";
import * as z from "zod";
import { quietAfter } from "../local/closing.ts";
import { OWNER_ONLY, openDataDirectory, withDataError } from "../local/data-directory.ts";
import { openProvider, type Provider } from "../local/provider.ts";
import { readSettings, wholeNumber } from "../platform/lambda/settings.ts";
import { createSystemClock } from "../platform/system-clock.ts";
import { createSystemRandom } from "../platform/system-random.ts";
import { formatSeed, readSeed, SeedError } from "../service/seed.ts";
import type { State } from "../service/state/state.ts";
import { builtInState } from "../service/state/state.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { printNote, printResult, problemLines, terminalLog } from "./output.ts";
import {
  apiKeySetting,
  directorySetting,
  portSetting,
  taskSecondsSetting,
} from "./setting-values.ts";
import { failedBy, stopSignal, untilAborted } from "./stop-signal.ts";

export interface ServiceFlags {
  readonly port?: string;
  readonly apiKey?: string;
  readonly seed?: string;
  readonly printSeed?: boolean;
  readonly data?: string;
  readonly taskSeconds?: string;
  readonly rateLimit?: string;
  readonly allowHost?: string;
}

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

const serve = async (flags: ServiceFlags): Promise<ExitCode> => {
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
  const clock = createSystemClock();
  const signal = stopSignal(clock);
  const random = createSystemRandom();
  const failing = new AbortController();
  const log = quietAfter(terminalLog, failing.signal);
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

/**
 * Runs the provider's interface alone, until it is stopped; or prints the state that it starts with.
 * @throws SettingsError when a setting is wrong
 * @throws ExitError when the seed is wrong
 * @throws DataDirectoryError when the data directory cannot be used
 * @throws Error with code EADDRINUSE when the port is taken
 */
export const serveService = async (flags: ServiceFlags): Promise<ExitCode> => {
  if (!flags.printSeed) return serve(flags);
  printResult(formatSeed(builtInState()));
  return EXIT.ok;
};
