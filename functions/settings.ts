import * as z from "zod";
import { baseUrl } from "../lib/config/base-url.ts";
import { AI_TASK_NAMES } from "../lib/contract/ai-tasks.ts";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../lib/contract/load-balancer-pools.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../lib/contract/tasks.ts";
import { oneOf } from "../lib/contract/values.ts";
import { wholeNumber } from "../lib/lambda/settings.ts";

/** What every function reads from its environment; `serverless.yml` sets it. */
const functionSettingsSchema = z.object({
  TABLE_NAME: z.string(),
  EVENT_BUS_NAME: z.string(),
  /** `source` of every event that goes out. */
  EVENT_SOURCE: z.string(),
  PROVIDER_BASE_URL: baseUrl,
  /** Name of the SSM parameter that holds the provider's API key. */
  API_KEY_PARAMETER: z.string(),
  TASK_PATH: oneOf([TASK_PATH, PUBLISHED_TASK_PATH]),
  /** Where pools are updated: the deprecated path of the document, or its successor. */
  POOL_PATH: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH]),
  /** Whether the provider's interface lists tasks and notification events. */
  PROVIDER_HAS_LISTS: z.stringbool({ truthy: ["true"], falsy: ["false"] }),
  /** The request budget that each run of a standing job keeps to. */
  REQUESTS_PER_SECOND: wholeNumber(1, 1_000),
  ATTEMPT_TIMEOUT_MS: wholeNumber(1_000, 20_000),
  SETTLE_SECONDS: wholeNumber(1, 3_600),
});

export type FunctionSettings = z.output<typeof functionSettingsSchema>;

/** Of the functions that run commands and follow them. */
export const commandSettingsSchema = functionSettingsSchema.extend({
  COMMAND_QUEUE_URL: z.url(),
  WAKE_QUEUE_URL: z.url(),
  /** The AWS account that everything on the direct queue is taken to come from. */
  OWN_SENDER: z.string(),
  /** Name of the SSM parameter that holds the key of the fingerprints. */
  FINGERPRINT_KEY_PARAMETER: z.string(),
});

/** Of the functions that do what a config says. */
export const configSettingsSchema = functionSettingsSchema.extend({
  CONFIG_BUCKET: z.string(),
  /** Of the config's object. */
  CONFIG_KEY: z.string(),
});

export const priceSettingsSchema = configSettingsSchema.extend({
  /** Of the schedule: a run in the same period is the same run. */
  PERIOD_SECONDS: wholeNumber(1, 7 * 24 * 3_600),
});

export const aiTaskSettingsSchema = functionSettingsSchema.extend({
  /** Only tasks of this name are watched. */
  AI_TASK_NAME: z.enum(AI_TASK_NAMES).optional(),
});
