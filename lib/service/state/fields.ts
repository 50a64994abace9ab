import * as z from "zod";

export const projectAndRegion = { project_id: z.int(), region_id: z.int() };

/** The task that holds a record and keeps others from changing it; null when none does. */
export const lock = z.string().nullable().default(null);

/** Whose record it is. A seed that says nothing means the client of the built-in key. */
export const clientId = z.int().default(1);

/** Text limited in characters as people count them. */
export const atMost = (maxCharacters: number) =>
  z.string().refine((value) => [...value].length <= maxCharacters, {
    error: `at most ${maxCharacters} characters`,
  });

export const tagRecord = z.strictObject({
  key: atMost(255).min(1),
  value: atMost(255),
  read_only: z.boolean(),
});
