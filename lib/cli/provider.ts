import { Option } from "commander";
import * as z from "zod";
import { baseUrl } from "../config/values.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { getTask, PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { readSettings } from "../platform/lambda/settings.ts";
import type { Clock } from "../platform/ports/clock.ts";
import { createClient, type OtherPaths } from "../provider/client.ts";
import {
  ProviderError,
  type ProviderErrorCode,
  problemsOfError,
} from "../provider/provider-error.ts";
import type { Environment } from "./environment.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { problemLines, visibleText } from "./render.ts";

/** An API key of the provider, in characters that a header can carry. */
export const apiKeySetting = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: "a key without spaces or line breaks" });

/** The path of a pool's update. */
export const poolPathSetting = z.enum([POOL_PATH, POOL_SUCCESSOR_PATH]).default(POOL_PATH);

/** The path of a task. */
export const taskPathSetting = z.enum([TASK_PATH, PUBLISHED_TASK_PATH]).default(TASK_PATH);

/** Options that name a provider, as commander reads them. */
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
  [BASE_URL]: baseUrl(),
  SKYHOOK_API_KEY: apiKeySetting,
  "--task-path": taskPathSetting,
});

/**
 * Reads the provider's address, key and paths; an empty setting counts as missing.
 * @throws SettingsError listing every wrong setting, without values
 */
export const readProviderSettings = (
  flags: ProviderFlags,
  environment: Environment,
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

const NO_ANSWER = new Set<ProviderErrorCode>(["connection-failed", "connection-lost", "timed-out"]);

/** Whether no reply came; a status such as 504 is a reply. */
const isNoAnswer = ({ code, status }: ProviderError): boolean =>
  status === undefined && NO_ANSWER.has(code);

/** A refused key counts as refused: the same call does not succeed until the user changes the key. */
const exitCodeOf = (error: ProviderError): ExitCode => {
  if (isNoAnswer(error)) return EXIT.unreachable;
  const isRefused = error.disposition === "permanent" || error.code === "key-refused";
  return isRefused ? EXIT.refused : EXIT.failed;
};

const hintsFor = (error: ProviderError, baseUrl: string): readonly string[] => {
  const { code, retryAfterMs } = error;
  const isAddress = isNoAnswer(error) || code === "reply-unreadable";
  return [
    ...(isAddress
      ? [`check the address ${new URL(baseUrl).origin} (--base-url or SKYHOOK_BASE_URL)`]
      : []),
    ...(code === "key-refused" ? ["check the key in SKYHOOK_API_KEY"] : []),
    ...(retryAfterMs === undefined
      ? []
      : [`the provider requests a wait of ${Math.ceil(retryAfterMs / 1000)} s`]),
  ];
};

/** A failed read as text for the user, with an exit status for scripts. */
export const readFailure = (error: ProviderError, baseUrl: string): ExitError => {
  const [message, ...fields] = problemsOfError(error);
  const hints = hintsFor(error, baseUrl).map((hint) => `  ${hint}`);
  const lines = [message.rule, ...problemLines(fields), ...hints];
  return new ExitError(exitCodeOf(error), lines.map(visibleText).join("\n"));
};

/** Longer than the automation's limit, because a user sees the wait and can end it. */
const ANSWER_MS = 30_000;

/** Connects to the provider of the options. @throws SettingsError when a setting is missing or wrong */
export const connectProvider = (flags: ProviderFlags, clock: Clock) => {
  const settings = readProviderSettings(flags, process.env);
  const { baseUrl } = settings;
  const apiKey = async () => settings.apiKey;
  const client = createClient({ ...settings, apiKey, fetch, clock, attemptTimeoutMs: ANSWER_MS });
  return {
    baseUrl,
    client,
    /** Reads without retries, so that a wrong key or address shows at once. @throws ExitError */
    read: <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        throw error instanceof ProviderError ? readFailure(error, baseUrl) : error;
      }),
  };
};

export type Provider = ReturnType<typeof connectProvider>;

export const baseUrlOption = (): Option =>
  new Option("--base-url <url>", "address of the provider's API (default: SKYHOOK_BASE_URL)");
