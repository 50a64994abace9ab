import { SSMClient } from "@aws-sdk/client-ssm";
import type { Account } from "../accounts/account.ts";
import { MAX_TURN_WAIT_MS } from "../accounts/account-client.ts";
import type { AccountsConfig } from "../accounts/config.ts";
import { type AccountPorts, openAccounts } from "../accounts/open-accounts.ts";
import { createSsmSecrets } from "../aws/ssm-secrets.ts";
import type { Metrics } from "../ports/metrics.ts";
import { type Provider, REMOTE_ATTEMPT_TIMEOUT_MS } from "./provider.ts";

/** What is counted is also in events and in the log, where the person who runs it sees it. */
export const countedNowhere: Metrics = { count: () => {} };

type Ports = Pick<
  AccountPorts,
  "ledger" | "bus" | "clock" | "random" | "log" | "environment" | "attemptTimeoutMs"
>;

/** How long an attempt may take, and how long whoever makes it is taken to be at work. */
export interface AttemptTimes {
  readonly attemptTimeoutMs: number;
  readonly leaseMs: number;
}

/** An attempt sends once and may read once; after both its holder is gone. */
export const attemptTimes = ({ accounts }: AccountsConfig, provider: Provider): AttemptTimes => {
  const isElsewhere =
    provider.attemptTimeoutMs === REMOTE_ATTEMPT_TIMEOUT_MS ||
    accounts.some(({ baseUrl }) => baseUrl !== undefined);
  const attemptTimeoutMs = isElsewhere ? REMOTE_ATTEMPT_TIMEOUT_MS : provider.attemptTimeoutMs;
  // The embedded service's budget is never so small that a request would wait long for its turn.
  const turnMs = isElsewhere ? MAX_TURN_WAIT_MS : 0;
  return { attemptTimeoutMs, leaseMs: 2 * (turnMs + attemptTimeoutMs) + 1_000 };
};

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
        read: (reference) => createSsmSecrets({ client: new SSMClient() }).read(reference),
      },
      fetch,
    },
    provider,
  );
