import * as z from "zod";
import { baseUrl } from "../config/values.ts";
import { getTask } from "../contract/tasks.ts";
import { readSettings } from "../platform/lambda/settings.ts";
import type { OtherPaths } from "../provider/client.ts";
import { apiKeySetting, taskPathSetting } from "./setting-values.ts";

/** Options that say which provider is read, as commander reads them. */
export interface ProviderFlags {
  readonly baseUrl?: string;
  readonly taskPath?: string;
}

export interface ProviderSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly paths: OtherPaths;
}

const BASE_URL = "--base-url or SKYHOOK_BASE_URL";

const settingsSchema = z.object({
  [BASE_URL]: baseUrl,
  SKYHOOK_API_KEY: apiKeySetting,
  "--task-path": taskPathSetting,
});

/**
 * Reads which provider is asked, and with which key; an empty setting counts as missing.
 * @throws SettingsError naming every bad setting, never its value
 */
export const readProviderSettings = (
  flags: ProviderFlags,
  environment: Readonly<Record<string, string | undefined>>,
): ProviderSettings => {
  const settings = readSettings(settingsSchema, {
    [BASE_URL]: flags.baseUrl || environment.SKYHOOK_BASE_URL || undefined,
    SKYHOOK_API_KEY: environment.SKYHOOK_API_KEY || undefined,
    "--task-path": flags.taskPath,
  });
  return {
    baseUrl: settings[BASE_URL],
    apiKey: settings.SKYHOOK_API_KEY,
    paths: { [getTask.id]: settings["--task-path"] },
  };
};
