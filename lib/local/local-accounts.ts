import { isDeepStrictEqual } from "node:util";
import { SSMClient } from "@aws-sdk/client-ssm";
import { createAwsClient } from "../platform/aws/aws-client.ts";
import { createSsmSecrets } from "../platform/aws/ssm-secrets.ts";
import { ATTEMPT_TIMEOUT_MS } from "../platform/deployment.ts";
import type { Metrics } from "../platform/ports/metrics.ts";
import { type Access, createAccess } from "../provider/access.ts";
import type { Account } from "../provider/accounts.ts";
import { type AccountPorts, openAccounts } from "../provider/accounts.ts";
import type { AccountSettings, AccountsConfig } from "../provider/accounts-config.ts";
import { LOCAL_SENDER } from "./aws-events.ts";
import type { Provider } from "./provider.ts";

/** What is counted is also in events and in the log, where the person who runs it sees it. */
export const countedNowhere: Metrics = { count: () => {}, measure: () => {} };

type Ports = Pick<AccountPorts, "ledger" | "bus" | "clock" | "random" | "log" | "environment">;

/** The accounts of a local run, as the config in effect has them. */
export interface LocalAccounts {
  readonly config: AccountsConfig;
  /** Follows the config. */
  readonly access: Access;
  accountOf(name: string): Account | undefined;
  /**
   * Takes another config. An account stays as it is, with its permits, its pause and its key, while the
   * settings of its requests do; rights alone change none of them.
   * @throws Error naming an account that has no provider or no key; the config from before stays
   */
  replace(config: AccountsConfig): void;
}

/** The settings that an open account goes by: all but who may do what with it. */
const requestSettings = (settings: AccountSettings): Partial<AccountSettings> => {
  const { senders, operations, projects, deadlinesMs, ...rest } = settings;
  return rest;
};

interface OpenAccount {
  readonly settings: Partial<AccountSettings>;
  readonly account: Account | undefined;
}

/** Opens the accounts of a local run; those that name no provider are at the run's own. */
export const openLocalAccounts = (
  first: AccountsConfig,
  provider: Provider,
  ports: Ports,
): LocalAccounts => {
  const openNew = (config: AccountsConfig): ((name: string) => Account | undefined) =>
    openAccounts(
      config,
      {
        ...ports,
        attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
        metrics: countedNowhere,
        // Made when a key is read: most runs have no AWS at hand.
        secrets: {
          read: (reference) =>
            createSsmSecrets({ client: createAwsClient(SSMClient) }).read(reference),
        },
        fetch,
      },
      provider,
    );

  let current: AccountsConfig;
  let access: Access;
  let open: ReadonlyMap<string, OpenAccount> = new Map();

  const replace = (config: AccountsConfig): void => {
    const next = config.accounts.map((each) => {
      const settings = requestSettings(each);
      const known = open.get(each.name);
      return { each, settings, kept: isDeepStrictEqual(known?.settings, settings) && known };
    });
    const accounts = next.filter(({ kept }) => !kept).map(({ each }) => each);
    const accountOf = openNew({ ...config, accounts });
    open = new Map(
      next.map(({ each: { name }, settings, kept }) => [
        name,
        kept || { settings, account: accountOf(name) },
      ]),
    );
    access = createAccess(config, LOCAL_SENDER);
    current = config;
  };
  replace(first);

  return {
    get config() {
      return current;
    },
    access: {
      accountsOf: (sender) => access.accountsOf(sender),
      mayRun: (wish) => access.mayRun(wish),
      maySee: (sender, account, project) => access.maySee(sender, account, project),
      deadlineMs: (account, operation) => access.deadlineMs(account, operation),
    },
    accountOf: (name) => open.get(name)?.account,
    replace,
  };
};
