import * as z from "zod";
import { AI_TASK_NAMES } from "../lib/contract/ai-tasks.ts";
import { wholeNumber } from "../lib/platform/lambda/settings.ts";
import { MAX_SHARDS } from "../lib/platform/ports/ledger.ts";

/** Environment variables of every function; `serverless.yml` sets them. */
const functionSettingsSchema = z.object({
  /** Folder of the unpacked function, set by Lambda. Files below are relative to it. */
  LAMBDA_TASK_ROOT: z.string().default("."),
  TABLE_NAME: z.string(),
  EVENT_BUS_NAME: z.string(),
  /** `source` of every published event. */
  EVENT_SOURCE: z.string(),
  /** Service and stage, e.g. `skyhook-prod`; the `service` dimension of every metric. */
  STAGE: z.string(),
  /** Packaged JSON file with the accounts at the provider. */
  ACCOUNTS_FILE: z.string(),
});

/** Environment variables of functions that call the provider. */
const providerSettingsSchema = functionSettingsSchema.extend({
  ATTEMPT_TIMEOUT_MS: wholeNumber(1_000, 20_000),
});

export type FunctionSettings = z.output<typeof functionSettingsSchema>;
export type ProviderSettings = z.output<typeof providerSettingsSchema>;

/** Environment variables of functions that read requests for commands. */
const REQUEST_SETTINGS = {
  COMMAND_QUEUE_URL: z.url(),
  /** AWS account that counts as the sender of every message on the direct queue. */
  OWN_SENDER: z.string(),
  /** Name of the SSM parameter with the key of the request fingerprints. */
  FINGERPRINT_KEY_PARAMETER: z.string(),
};

export type RequestSettings = z.output<z.ZodObject<typeof REQUEST_SETTINGS>>;

export const intakeSettingsSchema = functionSettingsSchema.extend({
  ...REQUEST_SETTINGS,
  /** Packaged JSON file with the reactions. */
  REACTIONS_FILE: z.string(),
});

/** Environment variables of run-commands and poll-tasks. */
export const commandSettingsSchema = providerSettingsSchema.extend({
  ...REQUEST_SETTINGS,
  WAKE_QUEUE_URL: z.url(),
  /** Number of shards of the ledger's due index. */
  DUE_SHARDS: wholeNumber(1, MAX_SHARDS),
});

export type CommandSettings = z.output<typeof commandSettingsSchema>;

/** Environment variables of the scheduled jobs. */
const jobSettingsSchema = providerSettingsSchema.extend({
  /** Name of the job's account at the provider. */
  JOB_ACCOUNT: z.string(),
});

export type JobSettings = z.output<typeof jobSettingsSchema>;

/** Environment variables of the jobs with a config file. */
export const configSettingsSchema = jobSettingsSchema.extend({
  CONFIG_BUCKET: z.string(),
  /** Key of the file's S3 object. */
  CONFIG_KEY: z.string(),
});

export type ConfigSettings = z.output<typeof configSettingsSchema>;

export const priceSettingsSchema = configSettingsSchema.extend({
  /** Period of the schedule: two runs in one period count as one. */
  PERIOD_SECONDS: wholeNumber(1, 7 * 24 * 3_600),
});

export const aiTaskSettingsSchema = jobSettingsSchema.extend({
  /** Name of the AI tasks to watch; absent: all. */
  AI_TASK_NAME: z.enum(AI_TASK_NAMES).optional(),
});
