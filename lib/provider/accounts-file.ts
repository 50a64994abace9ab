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

/** A deployment has no provider of its own, and anyone who may see a function sees its variables. */
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
              rule: "for local runs only; a deployment reads keys from SSM: parameter",
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

/** Reads an accounts file, YAML or JSON; reports every problem with its line. */
export const readAccountsFile = (text: string): ConfigReading<AccountsConfig> =>
  read(text, crossFieldRules);

/** Reads an accounts file for a deployment; reports every problem with its line. */
export const readDeployedAccounts = (text: string): ConfigReading<AccountsConfig> =>
  read(text, deploymentRules);
