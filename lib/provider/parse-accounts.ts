import { type Problem, pathText, placedProblemsOf } from "../contract/problem.ts";
import { type AccountsConfig, accountsSchema, toAccountsConfig } from "./accounts-config.ts";
import { type AccountRules, rulesBetweenAccounts } from "./cross-field-rules.ts";

/** Accounts that cannot be used; the message names every problem and no value. */
class AccountsError extends Error {
  override readonly name = "AccountsError";

  constructor(problems: readonly Problem[]) {
    super(`wrong accounts: ${problems.map(({ path, rule }) => `${path} (${rule})`).join(", ")}`);
  }
}

/**
 * Reads the content of an accounts file that was read as JSON, as it comes with the functions.
 * @throws AccountsError naming every problem
 */
export const parseAccounts = (
  json: unknown,
  rules: AccountRules = rulesBetweenAccounts,
): AccountsConfig => {
  const parsed = accountsSchema.safeParse(json);
  const problems = [
    ...(parsed.success ? [] : placedProblemsOf(parsed.error.issues)),
    ...rules(json),
  ].map(({ path, rule }) => ({ path: pathText(path), rule }));
  if (!parsed.success || problems.length > 0) throw new AccountsError(problems);
  return toAccountsConfig(parsed.data);
};
