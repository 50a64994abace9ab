import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { packageFolder } from "../platform/package-folder.ts";

/** The files of a team that have a schema: `accounts.yaml` and so on. */
export const CONFIG_FILES = ["accounts", "reactions", "thresholds", "watchlist"] as const;

export type ConfigFile = (typeof CONFIG_FILES)[number];

/** The folder and the folders above it, the nearest first. */
const upwards = (folder: string): readonly string[] =>
  folder === dirname(folder) ? [folder] : [folder, ...upwards(dirname(folder))];

/** Text of a generated schema. @param path below `schemas/`, such as `accounts.schema.json` */
export const readSchema = (path: string): Promise<string> =>
  readFile(join(packageFolder(), "schemas", path), "utf8");

/**
 * Path of a config file's schema, as editors resolve it: from the folder of the file. A file in a project that has
 * installed skyhook names the schema there, so that it stays that of the installed version. Elsewhere, as with a
 * global installation, the path would hold on one machine only: the file then names a schema beside it, which
 * `skyhook schema NAME > NAME.schema.json` writes.
 * @param folder absolute, of the config file
 */
export const schemaPathFor = (
  name: ConfigFile,
  folder: string,
): { readonly path: string; readonly isBeside: boolean } => {
  const file = join("schemas", `${name}.schema.json`);
  const own = packageFolder();
  const places = [
    ...upwards(folder).map((each) => join(each, "node_modules", "skyhook", file)),
    ...(upwards(folder).includes(own) ? [join(own, file)] : []),
  ];
  const found = places.find((place) => existsSync(place));
  return found === undefined
    ? { path: `${name}.schema.json`, isBeside: true }
    : { path: relative(folder, found).split(sep).join("/"), isBeside: false };
};

/** Text of the comment by which editors find the schema of a YAML file. @param path of `schemaPathFor` */
export const schemaComment = (path: string): string => `yaml-language-server: $schema=${path}`;

/** The command that writes the schema which a file expects beside it. */
export const besideNote = (name: ConfigFile): string =>
  `for completion in an editor, in the same folder: npx skyhook schema ${name} > ${name}.schema.json`;
