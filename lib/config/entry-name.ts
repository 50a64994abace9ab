import * as z from "zod";

/** What people call an entry of a config; it becomes part of ids and of names of resources. */
export const entryName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: "1 to 64 letters, digits, dots, underscores or hyphens, a letter or digit first",
});
