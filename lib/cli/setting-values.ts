import * as z from "zod";
import { wholeNumber } from "../lambda/settings.ts";

/** A folder to keep data in. Empty is a mistake, such as a shell variable that is not set. */
export const directorySetting = z.string().min(1).optional();

/** 0 takes any free port. */
export const portSetting = wholeNumber(0, 65_535).default(0);

/** How long the embedded service's background tasks take; short enough to watch, long enough to see. */
export const taskSecondsSetting = z
  .string()
  .regex(/^\d+(\.\d+)?$/, { error: "a number of seconds" })
  .transform(Number)
  .pipe(z.number().max(3600))
  .default(1.5);
