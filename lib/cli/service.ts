import * as z from "zod";
import { readSettings } from "../lambda/settings.ts";
import { openDataDirectory, withDataError } from "../local/data-directory.ts";
import { openProvider } from "../local/provider.ts";
import { createSystemClock } from "../system/system-clock.ts";
import { createSystemRandom } from "../system/system-random.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { printNote, printResult, terminalLog } from "./output.ts";
import { directorySetting, portSetting, taskSecondsSetting } from "./setting-values.ts";
import { stopSignal, untilAborted } from "./stop-signal.ts";

export interface ServiceFlags {
  readonly port?: string;
  readonly data?: string;
  readonly taskSeconds?: string;
}

const settingsSchema = z.object({
  "--data": directorySetting,
  "--port": portSetting,
  "--task-seconds": taskSecondsSetting,
});

/**
 * Runs the provider's interface alone, until it is stopped.
 * @throws SettingsError when a setting is wrong
 * @throws DataDirectoryError when the data directory cannot be used
 * @throws Error with code EADDRINUSE when the port is taken
 */
export const serveService = async (flags: ServiceFlags): Promise<ExitCode> => {
  const settings = readSettings(settingsSchema, {
    "--data": flags.data,
    "--port": flags.port,
    "--task-seconds": flags.taskSeconds,
  });
  const { "--data": directory, "--port": port, "--task-seconds": taskSeconds } = settings;
  const clock = createSystemClock();
  const signal = stopSignal(clock);
  const random = createSystemRandom();
  const provider = await withDataError(directory, async () => {
    const data = directory === undefined ? undefined : await openDataDirectory(directory, random);
    return openProvider(
      { kind: "embedded", port, taskDurationMs: Math.round(taskSeconds * 1000) },
      { clock, random, log: terminalLog, directory: data?.service },
    );
  });
  printResult(provider.baseUrl);
  const key = await provider.apiKey();
  printNote(
    `the service listens there; its built-in key opens the built-in resources only:\n  curl -H 'Authorization: apikey ${key}' ${provider.baseUrl}/cloud/v1/tasks`,
  );
  await untilAborted(signal);
  await provider.close();
  return EXIT.ok;
};
