import { SSMClient } from "@aws-sdk/client-ssm";
import type { Account } from "../accounts/account.ts";
import type { AccountsConfig } from "../accounts/config.ts";
import { type AccountPorts, openAccounts } from "../accounts/open-accounts.ts";
import { createAwsClient } from "../aws/aws-client.ts";
import { createSsmSecrets } from "../aws/ssm-secrets.ts";
import type { Metrics } from "../ports/metrics.ts";
import { type Provider, REMOTE_ATTEMPT_TIMEOUT_MS } from "./provider.ts";

/** What is counted is also in events and in the log, where the person who runs it sees it. */
export const countedNowhere: Metrics = { count: () => {}, measure: () => {} };

type Ports = Pick<
  AccountPorts,
  "ledger" | "bus" | "clock" | "random" | "log" | "environment" | "attemptTimeoutMs"
>;

/** A provider elsewhere needs its time, whatever the run's own provider is. */
export const attemptTimeoutOf = ({ accounts }: AccountsConfig, provider: Provider): number =>
  accounts.some(({ baseUrl }) => baseUrl !== undefined)
    ? REMOTE_ATTEMPT_TIMEOUT_MS
    : provider.attemptTimeoutMs;

/** The accounts of a local run; those that name no provider are at the run's own. */
export const openLocalAccounts = (
  config: AccountsConfig,
  provider: Provider,
  ports: Ports,
): ((name: string) => Account | undefined) =>
  openAccounts(
    config,
    {
      ...ports,
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
