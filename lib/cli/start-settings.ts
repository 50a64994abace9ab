import { SSMClient } from "@aws-sdk/client-ssm";
import * as z from "zod";
import { createSsmSecrets } from "../aws/ssm-secrets.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { baseUrl, readSettings } from "../lambda/settings.ts";
import { once } from "../lambda/start-up.ts";
import type { ProviderChoice } from "../local/provider.ts";
import { portSetting, taskSecondsSetting } from "./setting-values.ts";

/** Options of `skyhook start` as commander reads them. */
export interface StartFlags {
  readonly exit?: boolean;
  readonly json?: boolean;
  readonly demo: boolean;
  readonly data?: string;
  readonly port?: string;
  readonly servicePort?: string;
  readonly taskSeconds?: string;
  readonly eventSource?: string;
  readonly baseUrl?: string;
  readonly apiKeyParameter?: string;
  readonly taskPath?: string;
  readonly lists: boolean;
}

const settingsSchema = z
  .object({
    "--data": z.string().optional(),
    "--port": portSetting,
    "--service-port": portSetting,
    "--task-seconds": taskSecondsSetting,
    "--event-source": z
      .string()
      .regex(/^[\w./-]{1,256}$/, { error: "a source name such as skyhook" })
      .default("skyhook"),
    "--base-url": baseUrl.optional(),
    "--api-key-parameter": z.string().optional(),
    "--task-path": z.enum([TASK_PATH, PUBLISHED_TASK_PATH]).default(TASK_PATH),
    SKYHOOK_API_KEY: z
      .string()
      .regex(/^[\x21-\x7e]+$/, { error: "a key without spaces or line breaks" })
      .optional(),
  })
  .check((context) => {
    const settings = context.value;
    const problem = (path: string, message: string) =>
      context.issues.push({ code: "custom", path: [path], message, input: settings });
    const keys = [settings.SKYHOOK_API_KEY, settings["--api-key-parameter"]].filter(Boolean);
    if (settings["--base-url"] !== undefined && keys.length === 0) {
      problem(
        "SKYHOOK_API_KEY",
        "required with --base-url, unless --api-key-parameter names an SSM parameter",
      );
    }
    if (settings["--base-url"] === undefined && settings["--api-key-parameter"] !== undefined) {
      problem("--base-url", "required with --api-key-parameter");
    }
    if (keys.length === 2) problem("--api-key-parameter", "not together with SKYHOOK_API_KEY");
  });

export interface StartSettings {
  readonly provider: ProviderChoice;
  readonly directory: string | undefined;
  readonly gatewayPort: number;
  readonly eventSource: string;
}

/**
 * Reads what a local run needs from flags and environment.
 * @throws SettingsError naming every bad setting, never its value
 */
export const readStartSettings = (
  flags: StartFlags,
  environment: Readonly<Record<string, string | undefined>>,
): StartSettings => {
  const settings = readSettings(settingsSchema, {
    "--data": flags.data,
    "--port": flags.port,
    "--service-port": flags.servicePort,
    "--task-seconds": flags.taskSeconds,
    "--event-source": flags.eventSource,
    "--base-url": flags.baseUrl,
    "--api-key-parameter": flags.apiKeyParameter,
    "--task-path": flags.taskPath,
    SKYHOOK_API_KEY: environment.SKYHOOK_API_KEY,
  });
  return {
    directory: settings["--data"],
    gatewayPort: settings["--port"],
    eventSource: settings["--event-source"],
    provider: providerOf(settings, flags),
  };
};

const providerOf = (
  settings: z.output<typeof settingsSchema>,
  flags: StartFlags,
): ProviderChoice => {
  const { SKYHOOK_API_KEY: key = "", "--api-key-parameter": parameter } = settings;
  const remote = settings["--base-url"];
  if (remote === undefined) {
    const taskDurationMs = Math.round(settings["--task-seconds"] * 1000);
    return { kind: "embedded", port: settings["--service-port"], taskDurationMs };
  }
  const readParameter = (name: string) =>
    once(() => createSsmSecrets({ client: new SSMClient() }).read(name));
  return {
    kind: "remote",
    baseUrl: remote,
    apiKey: parameter === undefined ? async () => key : readParameter(parameter),
    taskPath: settings["--task-path"],
    canList: flags.lists,
  };
};
