import * as z from "zod";
import { text } from "../../contract/values.ts";

/** The task that holds a record and keeps others from changing it; null when none does. */
export const lock = z.string().nullable().default(null);

/** Whose record it is. A seed that says nothing means the client of the built-in key. */
export const clientId = z.int().default(1);

export const tagRecord = z.strictObject({
  key: text(255).min(1),
  value: text(255),
  read_only: z.boolean(),
});
