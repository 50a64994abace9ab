import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type ConfigFile, schemaComment } from "../schema-files.ts";

/** The first line of an example, which names the schema from the repository's folder infra/. */
const SCHEMA_LINE = /^# yaml-language-server: .*/;

/** The text of an example. @param root folder of this package */
export const exampleText = (file: ConfigFile, root: string): string =>
  readFileSync(join(root, "infra", `${file}.example.yaml`), "utf8");

/** An example with the schema at another path. @param schemaPath of `schemaPathFor` */
export const withSchema = (text: string, schemaPath: string): string =>
  text.replace(SCHEMA_LINE, `# ${schemaComment(schemaPath)}`);
