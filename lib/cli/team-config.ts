import { DEFAULT_ACCOUNT } from "../accounts/account.ts";
import { ownAccount } from "../accounts/config.ts";
import type { TeamConfig } from "../local/event-routes.ts";
import { readAccounts, readReactionsIn } from "./reaction-files.ts";
import type { TeamFiles } from "./start-settings.ts";

/**
 * Reads who may use which account, and which events become commands. Without a file there is one
 * account, for our own AWS account.
 * @throws ExitError naming every mistake in the first wrong file with its line
 */
export const readTeamConfig = (
  { accountsFile, reactionsFile }: TeamFiles,
  eventSource: string,
): TeamConfig => {
  const accounts =
    accountsFile === undefined ? ownAccount(DEFAULT_ACCOUNT) : readAccounts(accountsFile);
  const reactions =
    reactionsFile === undefined ? [] : readReactionsIn(reactionsFile, { accounts, eventSource });
  return { accounts, reactions };
};
