import * as z from "zod";
import { type ConfigReading, readConfig } from "../config/config-file.ts";
import type { PlacedProblem } from "../contract/problem.ts";
import {
  type AccountsConfig,
  commonRules,
  crossFieldRules,
  looseFileOf,
  toAccountsConfig,
} from "./accounts-config.ts";
import { accountsSchema } from "./accounts-schema.ts";

const environmentKeySchema = z.object({ environment: z.string() });

/**
 * Cross-field rules for a deployment. It has no provider of its own, so `base_url` and `api_key` are
 * required. A key in an environment variable is refused: every reader of the function could see it.
 */
const deploymentRules = (content: unknown): readonly PlacedProblem[] => {
  const file = looseFileOf(content);
  const ofAccounts = file.accounts.flatMap((account, index) => {
    const path = ["accounts", index];
    const missing = ["base_url", "api_key"].filter((field) => account[field] === undefined);
    return [
      ...missing.map((field) => ({ path: [...path, field], rule: "required" })),
      ...(environmentKeySchema.safeParse(account.api_key).success
        ? [
            {
              path: [...path, "api_key", "environment"],
              rule: "allowed in local runs only; a deployment reads its keys from SSM, so use parameter",
            },
          ]
        : []),
    ];
  });
  return [...commonRules(file), ...ofAccounts];
};

const read = (
  text: string,
  rules: (content: unknown) => readonly PlacedProblem[],
): ConfigReading<AccountsConfig> => {
  const reading = readConfig(accountsSchema, text, rules);
  return reading.kind === "valid"
    ? { kind: "valid", value: toAccountsConfig(reading.value) }
    : reading;
};

/** Reads an accounts file of a local run, YAML or JSON. Reports every problem with its line. */
export const readAccountsFile = (text: string): ConfigReading<AccountsConfig> =>
  read(text, crossFieldRules);

/** Reads an accounts file of a deployment, YAML or JSON. Reports every problem with its line. */
export const readDeployedAccounts = (text: string): ConfigReading<AccountsConfig> =>
  read(text, deploymentRules);
