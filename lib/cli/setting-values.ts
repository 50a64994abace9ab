import * as z from "zod";
import { POOL_PATH, POOL_SUCCESSOR_PATH } from "../contract/load-balancer-pools.ts";
import { PUBLISHED_TASK_PATH, TASK_PATH } from "../contract/tasks.ts";
import { wholeNumber } from "../platform/lambda/settings.ts";

/** A folder to keep data in. Empty is a mistake, such as a shell variable that is not set. */
export const directorySetting = z.string().min(1).optional();

/** 0 takes any free port. */
export const portSetting = wholeNumber(0, 65_535).default(0);

/** A key of the provider as a header can carry it. */
export const apiKeySetting = z
  .string()
  .regex(/^[\x21-\x7e]+$/, { error: "a key without spaces or line breaks" });

/** Where the provider updates pools. */
export const poolPathSetting = z.enum([POOL_PATH, POOL_SUCCESSOR_PATH]).default(POOL_PATH);

/** Where the provider answers for one task. */
export const taskPathSetting = z.enum([TASK_PATH, PUBLISHED_TASK_PATH]).default(TASK_PATH);

/** How long the embedded service's background tasks take; short enough to watch, long enough to see. */
export const taskSecondsSetting = z
  .string()
  .regex(/^\d+(\.\d+)?$/, { error: "a number of seconds" })
  .transform(Number)
  .pipe(z.number().max(3600))
  .default(1.5);
