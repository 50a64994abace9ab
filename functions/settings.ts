import * as z from "zod";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../lib/contract/load-balancer-pools.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../lib/contract/tasks.ts";
import { oneOf } from "../lib/contract/values.ts";
import { baseUrl, wholeNumber } from "../lib/lambda/settings.ts";

/** What the functions read from their environment; `serverless.yml` sets it. */
export const functionSettingsSchema = z.object({
  TABLE_NAME: z.string(),
  COMMAND_QUEUE_URL: z.url(),
  WAKE_QUEUE_URL: z.url(),
  EVENT_BUS_NAME: z.string(),
  /** `source` of every event that goes out. */
  EVENT_SOURCE: z.string(),
  /** The AWS account that everything on the direct queue is taken to come from. */
  OWN_SENDER: z.string(),
  PROVIDER_BASE_URL: baseUrl,
  /** Name of the SSM parameter that holds the provider's API key. */
  API_KEY_PARAMETER: z.string(),
  /** Name of the SSM parameter that holds the key of the fingerprints. */
  FINGERPRINT_KEY_PARAMETER: z.string(),
  TASK_PATH: oneOf([TASK_PATH, PUBLISHED_TASK_PATH]),
  /** Where pools are updated: the deprecated path of the document, or its successor. */
  POOL_PATH: oneOf([POOL_PATH, POOL_SUCCESSOR_PATH]),
  /** Whether the provider's interface lists tasks and notification events. */
  PROVIDER_HAS_LISTS: z.stringbool({ truthy: ["true"], falsy: ["false"] }),
  /** The request budget that standing jobs keep to. */
  REQUESTS_PER_SECOND: wholeNumber(1, 1_000),
  ATTEMPT_TIMEOUT_MS: wholeNumber(1_000, 20_000),
  SETTLE_SECONDS: wholeNumber(1, 3_600),
});
