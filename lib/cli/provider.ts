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

/** A key of the provider as a header can carry it. */
export const apiKeySetting = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: "a key without spaces or line breaks" });

/** Where the provider updates pools. */
export const poolPathSetting = z.enum([POOL_PATH, POOL_SUCCESSOR_PATH]).default(POOL_PATH);

/** Where the provider answers for one task. */
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
  [BASE_URL]: baseUrl,
  SKYHOOK_API_KEY: apiKeySetting,
  "--task-path": taskPathSetting,
});

/**
 * Reads the provider's address, key and paths; an empty setting counts as missing.
 * @throws SettingsError naming every bad setting, never its value
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

/** The provider may say itself, by a status, that it took too long. */
const isNoAnswer = ({ code, status }: ProviderError): boolean =>
  status === undefined && NO_ANSWER.has(code);

/** A key that is refused may be accepted later, but not in the same command by the same person. */
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
      ? [`look at the address, --base-url or SKYHOOK_BASE_URL: ${new URL(baseUrl).origin}`]
      : []),
    ...(code === "key-refused" ? ["look at the key, SKYHOOK_API_KEY"] : []),
    ...(retryAfterMs === undefined
      ? []
      : [`the provider asks to wait ${Math.ceil(retryAfterMs / 1000)} s`]),
  ];
};

/** A failed read in words for a person, and with a status for a script. */
export const readFailure = (error: ProviderError, baseUrl: string): ExitError => {
  const [message, ...fields] = problemsOfError(error);
  const hints = hintsFor(error, baseUrl).map((hint) => `  ${hint}`);
  const lines = [message.rule, ...problemLines(fields), ...hints];
  return new ExitError(exitCodeOf(error), lines.map(visibleText).join("\n"));
};

/** Longer than an automation waits: a person sees that it takes long, and may stop it. */
const ANSWER_MS = 30_000;

/** The provider that a person has named. @throws SettingsError when a setting is missing or wrong */
export const connectProvider = (flags: ProviderFlags, clock: Clock) => {
  const settings = readProviderSettings(flags, process.env);
  const { baseUrl } = settings;
  const apiKey = async () => settings.apiKey;
  const client = createClient({ ...settings, apiKey, fetch, clock, attemptTimeoutMs: ANSWER_MS });
  return {
    baseUrl,
    client,
    /** Reads once: a person sees at once that a key or an address is wrong. @throws ExitError */
    read: <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        throw error instanceof ProviderError ? readFailure(error, baseUrl) : error;
      }),
  };
};

export type Provider = ReturnType<typeof connectProvider>;

export const baseUrlOption = (): Option =>
  new Option("--base-url <url>", "address of the provider's API (default: SKYHOOK_BASE_URL)");
