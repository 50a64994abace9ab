import { type ConfigReading, readConfig } from "../config/config-file.ts";
import { type AccountsConfig, accountsSchema, toAccountsConfig } from "./accounts-config.ts";
import { type AccountRules, rulesBetweenAccounts } from "./cross-field-rules.ts";

/** Reads an accounts file, YAML or JSON; every mistake in it is told at once, with its line. */
export const readAccountsFile = (
  text: string,
  rules: AccountRules = rulesBetweenAccounts,
): ConfigReading<AccountsConfig> => {
  const read = readConfig(accountsSchema, text, rules);
  return read.kind === "valid" ? { kind: "valid", value: toAccountsConfig(read.value) } : read;
};
