import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The files that describe a stage and its scheduled jobs. infra/ has an example of each. */
export const STAGE_FILES = ["accounts", "reactions", "thresholds", "watchlist"] as const;
export type StageFile = (typeof STAGE_FILES)[number];

/** The first line of an example: a schema at its place in the repository. */
const SCHEMA_LINE = /^# yaml-language-server: .*\n#\n/;

/** The text that `skyhook init` writes for a file. @param root folder of this package */
export const initialText = (file: StageFile, root: string): string =>
  readFileSync(join(root, "infra", `${file}.example.yaml`), "utf8").replace(SCHEMA_LINE, "");
