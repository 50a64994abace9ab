import * as z from "zod";
import { AI_TASK_NAMES } from "../lib/contract/ai-tasks.ts";
import { wholeNumber } from "../lib/platform/lambda/settings.ts";

/** What every function reads from its environment; `serverless.yml` sets it. */
const functionSettingsSchema = z.object({
  /** Where Lambda has unpacked the function; it sets this itself. Files below are relative to it. */
  LAMBDA_TASK_ROOT: z.string().default("."),
  TABLE_NAME: z.string(),
  EVENT_BUS_NAME: z.string(),
  /** `source` of every event that goes out. */
  EVENT_SOURCE: z.string(),
  /** Service and stage, e.g. `skyhook-prod`; the `service` dimension of every metric. */
  STAGE: z.string(),
  /** The accounts at the provider, as they were packaged. */
  ACCOUNTS_FILE: z.string(),
});

/** Of functions that call the provider. */
const providerSettingsSchema = functionSettingsSchema.extend({
  ATTEMPT_TIMEOUT_MS: wholeNumber(1_000, 20_000),
});

export type FunctionSettings = z.output<typeof functionSettingsSchema>;
export type ProviderSettings = z.output<typeof providerSettingsSchema>;

/** Of functions that read requests for commands. */
const REQUEST_SETTINGS = {
  COMMAND_QUEUE_URL: z.url(),
  /** The AWS account that everything on the direct queue is taken to come from. */
  OWN_SENDER: z.string(),
  /** Name of the SSM parameter that holds the key of the fingerprints. */
  FINGERPRINT_KEY_PARAMETER: z.string(),
};

export type RequestSettings = z.output<z.ZodObject<typeof REQUEST_SETTINGS>>;

export const intakeSettingsSchema = functionSettingsSchema.extend({
  ...REQUEST_SETTINGS,
  /** What events become which commands, as it was packaged. */
  REACTIONS_FILE: z.string(),
});

/** Of the functions that run commands and follow them. */
export const commandSettingsSchema = providerSettingsSchema.extend({
  ...REQUEST_SETTINGS,
  WAKE_QUEUE_URL: z.url(),
});

export type CommandSettings = z.output<typeof commandSettingsSchema>;

/** Of the scheduled jobs. */
const jobSettingsSchema = providerSettingsSchema.extend({
  /** Name of the account that it uses. */
  JOB_ACCOUNT: z.string(),
});

export type JobSettings = z.output<typeof jobSettingsSchema>;

/** Of the jobs that do what a config says. */
export const configSettingsSchema = jobSettingsSchema.extend({
  CONFIG_BUCKET: z.string(),
  /** Of the config's object. */
  CONFIG_KEY: z.string(),
});

export type ConfigSettings = z.output<typeof configSettingsSchema>;

export const priceSettingsSchema = configSettingsSchema.extend({
  /** Of the schedule: a run in the same period is the same run. */
  PERIOD_SECONDS: wholeNumber(1, 7 * 24 * 3_600),
});

export const aiTaskSettingsSchema = jobSettingsSchema.extend({
  /** Only tasks of this name are watched. */
  AI_TASK_NAME: z.enum(AI_TASK_NAMES).optional(),
});
