import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SSMClient } from "@aws-sdk/client-ssm";
import { createAwsClient } from "../lib/platform/aws/aws-client.ts";
import { createDynamodbLedger } from "../lib/platform/aws/dynamodb-ledger.ts";
import { createEventbridgeBus } from "../lib/platform/aws/eventbridge-bus.ts";
import { createSsmSecrets } from "../lib/platform/aws/ssm-secrets.ts";
import { createInvocationLog, type InvocationLog } from "../lib/platform/lambda/invocation-log.ts";
import { createEmfMetrics } from "../lib/platform/lambda/metrics.ts";
import { SettingsError } from "../lib/platform/lambda/settings.ts";
import type { EventBus } from "../lib/platform/ports/bus.ts";
import type { Clock } from "../lib/platform/ports/clock.ts";
import type { Ledger } from "../lib/platform/ports/ledger.ts";
import type { Metrics } from "../lib/platform/ports/metrics.ts";
import type { Random } from "../lib/platform/ports/random.ts";
import type { Secrets } from "../lib/platform/ports/secrets.ts";
import { createSystemClock } from "../lib/platform/system-clock.ts";
import { createSystemRandom } from "../lib/platform/system-random.ts";
import type { Account } from "../lib/provider/accounts.ts";
import { openAccounts } from "../lib/provider/accounts.ts";
import type { AccountsConfig } from "../lib/provider/accounts-config.ts";
import { parseAccounts } from "../lib/provider/accounts-config.ts";
import { readPackagedJson } from "./packaged-file.ts";
import type { AskingSettings, FunctionSettings, JobSettings } from "./settings.ts";

/** What every function is composed of: all share one ledger and one bus. */
interface FunctionDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: InvocationLog;
}

/** What a standing job is composed of. */
export interface JobDeps extends FunctionDeps {
  readonly metrics: Metrics;
  readonly account: Account;
}

/** What accounts are opened with, beside what every function has. */
export interface AccountFunctionDeps extends FunctionDeps {
  readonly metrics: Metrics;
  readonly secrets: Secrets;
  readonly accounts: AccountsConfig;
}

/** @throws SettingsError when the packaged accounts cannot be read */
export const createFunctionDeps = (settings: FunctionSettings): AccountFunctionDeps => ({
  ledger: createDynamodbLedger({
    client: createAwsClient(DynamoDBClient),
    tableName: settings.TABLE_NAME,
  }),
  bus: createEventbridgeBus({
    client: createAwsClient(EventBridgeClient),
    busName: settings.EVENT_BUS_NAME,
    source: settings.EVENT_SOURCE,
  }),
  clock: createSystemClock(),
  random: createSystemRandom(),
  log: createInvocationLog(),
  metrics: createEmfMetrics(settings.STAGE),
  secrets: createSsmSecrets({ client: createAwsClient(SSMClient) }),
  accounts: parseAccounts(
    readPackagedJson(settings.LAMBDA_TASK_ROOT, settings.ACCOUNTS_FILE, "ACCOUNTS_FILE"),
  ),
});

/** Accounts by their names, as they are used by this sandbox. */
export const openFunctionAccounts = (
  settings: AskingSettings,
  deps: AccountFunctionDeps,
): ((name: string) => Account | undefined) =>
  openAccounts(deps.accounts, {
    ...deps,
    // A deployment has no keys in it; the packaging refuses accounts that say so.
    environment: {},
    fetch,
    attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
  });

/** @throws SettingsError when the accounts cannot be read, or the job's is not one of them */
export const createJobDeps = (settings: JobSettings): JobDeps => {
  const { accounts, secrets, ...deps } = createFunctionDeps(settings);
  const open = openFunctionAccounts(settings, { ...deps, accounts, secrets });
  const account = open(settings.JOB_ACCOUNT);
  if (account === undefined) {
    throw new SettingsError([{ path: "JOB_ACCOUNT", rule: "no such account in ACCOUNTS_FILE" }]);
  }
  return { ...deps, account };
};
