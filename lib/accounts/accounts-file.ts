import { type ConfigReading, readConfig } from "../config/config-file.ts";
import {
  type AccountsConfig,
  accountsSchema,
  rulesBetweenAccounts,
  toAccountsConfig,
} from "./config.ts";

/** Reads an accounts file, YAML or JSON; every mistake in it is told at once, with its line. */
export const readAccountsFile = (text: string): ConfigReading<AccountsConfig> => {
  const read = readConfig(accountsSchema, text, rulesBetweenAccounts);
  return read.kind === "valid" ? { kind: "valid", value: toAccountsConfig(read.value) } : read;
};
