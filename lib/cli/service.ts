import * as z from "zod";
import { readSettings } from "../lambda/settings.ts";
import { openProvider } from "../local/provider.ts";
import { createSystemClock } from "../system/system-clock.ts";
import { createSystemRandom } from "../system/system-random.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { printNote, printResult, terminalLog } from "./output.ts";
import { portSetting, taskSecondsSetting } from "./setting-values.ts";
import { stopSignal, untilAborted } from "./stop-signal.ts";

export interface ServiceFlags {
  readonly port?: string;
  readonly data?: string;
  readonly taskSeconds?: string;
}

const settingsSchema = z.object({
  "--port": portSetting,
  "--task-seconds": taskSecondsSetting,
});

/**
 * Runs the provider's interface alone, until it is stopped.
 * @throws SettingsError when a setting is wrong
 */
export const serveService = async (flags: ServiceFlags): Promise<ExitCode> => {
  const settings = readSettings(settingsSchema, {
    "--port": flags.port,
    "--task-seconds": flags.taskSeconds,
  });
  const signal = stopSignal();
  const provider = await openProvider(
    {
      kind: "embedded",
      port: settings["--port"],
      taskDurationMs: Math.round(settings["--task-seconds"] * 1000),
    },
    {
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: terminalLog,
      directory: flags.data,
    },
  );
  printResult(provider.baseUrl);
  const key = await provider.apiKey();
  printNote(
    `the service listens there; its built-in key opens the built-in resources only:\n  curl -H 'Authorization: apikey ${key}' ${provider.baseUrl}/cloud/v1/tasks`,
  );
  await untilAborted(signal);
  await provider.close();
  return EXIT.ok;
};
