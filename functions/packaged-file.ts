import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SettingsError } from "../lib/platform/lambda/settings.ts";

/**
 * Reads a JSON file of the function's package.
 * @param setting the name of the setting that names the file
 * @throws SettingsError naming the setting when there is no such file, or no JSON in it
 */
export const readPackagedJson = (root: string, file: string, setting: string): unknown => {
  try {
    return JSON.parse(readFileSync(resolve(root, file), "utf8"));
  } catch {
    throw new SettingsError([{ path: setting, rule: "no such JSON file in the package" }]);
  }
};
