import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { parse } from "yaml";
import * as z from "zod";
import { mutatedSource } from "../simulation/bugs/mutated.ts";

/** How to take the fix of a bug back, and the test that fails then. The file of the list describes the fields. */
const fixSchema = z.strictObject({
  entry: z.string(),
  file: z.string(),
  find: z.string(),
  replace: z.string().default(""),
  test: z.string(),
  name: z.string(),
  declared: z.string().optional(),
  built: z.boolean().default(false),
});
const mootSchema = z.strictObject({ entry: z.string(), moot: z.string() });

export type Fix = z.output<typeof fixSchema>;

/** The list of fixed bugs. A line of the change log that names several faults has several entries. */
export const FIXED_BUGS = z
  .array(z.union([fixSchema, mootSchema]))
  .parse(parse(readFileSync(new URL("fixed-bugs.yaml", import.meta.url), "utf8")));

export const FIXES: readonly Fix[] = FIXED_BUGS.filter((bug): bug is Fix => "file" in bug);

/** The source without the fix. @throws Error unless `find` occurs exactly once in its file */
export const withoutFix = ({ entry, file, find, replace }: Fix): string =>
  mutatedSource({ name: entry, file: relative("lib", file), find, replace });
