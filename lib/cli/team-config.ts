import { DEFAULT_ACCOUNT } from "../accounts/account.ts";
import { type AccountsConfig, ownAccount } from "../accounts/config.ts";
import type { Reaction } from "../reactions/reaction.ts";
import { readAccounts, readReactionsIn } from "./reaction-files.ts";
import type { TeamFiles } from "./start-settings.ts";

/** Who may use which account, and which events become commands. */
export interface TeamConfig {
  /** Absent: our own AWS account may use the run's provider. */
  readonly accounts: AccountsConfig | undefined;
  readonly reactions: readonly Reaction[];
}

/** Whether any account is at a provider other than the embedded service. */
export const isElsewhere = ({ accounts }: TeamConfig): boolean =>
  accounts?.accounts.some(({ baseUrl }) => baseUrl !== undefined) ?? false;

/** @throws ExitError naming every mistake in the first wrong file with its line */
export const readTeamConfig = (
  { accountsFile, reactionsFile }: TeamFiles,
  eventSource: string,
): TeamConfig => {
  const accounts = accountsFile === undefined ? undefined : readAccounts(accountsFile);
  const known = accounts ?? ownAccount(DEFAULT_ACCOUNT);
  const reactions =
    reactionsFile === undefined
      ? []
      : readReactionsIn(reactionsFile, { accounts: known, eventSource });
  return { accounts, reactions };
};
