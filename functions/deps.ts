import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SSMClient } from "@aws-sdk/client-ssm";
import { type Account, DEFAULT_ACCOUNT } from "../lib/accounts/account.ts";
import { createDynamodbLedger } from "../lib/aws/dynamodb-ledger.ts";
import { createEventbridgeBus } from "../lib/aws/eventbridge-bus.ts";
import { createSsmSecrets } from "../lib/aws/ssm-secrets.ts";
import { createClient } from "../lib/client/client.ts";
import { updatePool } from "../lib/contract/load-balancer-pools.ts";
import { getTask } from "../lib/contract/tasks.ts";
import { createInvocationLog, type InvocationLog } from "../lib/lambda/invocation-log.ts";
import { keptFor } from "../lib/lambda/start-up.ts";
import type { EventBus } from "../lib/ports/bus.ts";
import type { Clock } from "../lib/ports/clock.ts";
import type { Ledger } from "../lib/ports/ledger.ts";
import type { Random } from "../lib/ports/random.ts";
import type { Secrets } from "../lib/ports/secrets.ts";
import { createSystemClock } from "../lib/system/system-clock.ts";
import { createSystemRandom } from "../lib/system/system-random.ts";
import type { FunctionSettings } from "./settings.ts";

/** What every function is composed of: all share one ledger, one bus and one account. */
export interface FunctionDeps {
  readonly ledger: Ledger;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: InvocationLog;
  readonly account: Account;
}

/** So soon a sandbox uses a key that was rotated; until then it may be refused. */
const KEY_MAX_AGE_MS = 60_000;

const accountOf = (settings: FunctionSettings, secrets: Secrets, clock: Clock): Account => ({
  name: DEFAULT_ACCOUNT,
  settleMs: settings.SETTLE_SECONDS * 1000,
  canList: settings.PROVIDER_HAS_LISTS,
  ready: async () => ({ kind: "ready" }),
  pathOf: ({ path }) => path,
  requestsPerSecond: settings.REQUESTS_PER_SECOND,
  client: createClient({
    baseUrl: settings.PROVIDER_BASE_URL,
    apiKey: keptFor(KEY_MAX_AGE_MS, clock, () => secrets.read(settings.API_KEY_PARAMETER)),
    fetch,
    clock,
    attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
    paths: { [getTask.id]: settings.TASK_PATH, [updatePool.id]: settings.POOL_PATH },
  }),
});

export const createFunctionDeps = (
  settings: FunctionSettings,
): FunctionDeps & { readonly secrets: Secrets } => {
  const clock = createSystemClock();
  const secrets = createSsmSecrets({ client: new SSMClient() });
  return {
    ledger: createDynamodbLedger({ client: new DynamoDBClient(), tableName: settings.TABLE_NAME }),
    bus: createEventbridgeBus({
      client: new EventBridgeClient(),
      busName: settings.EVENT_BUS_NAME,
      source: settings.EVENT_SOURCE,
    }),
    clock,
    random: createSystemRandom(),
    log: createInvocationLog(),
    account: accountOf(settings, secrets, clock),
    secrets,
  };
};
