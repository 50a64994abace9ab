import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { DEFAULT_ACCOUNT } from "../lib/accounts/account.ts";
import { createDynamodbLedger } from "../lib/aws/dynamodb-ledger.ts";
import { createEventbridgeBus } from "../lib/aws/eventbridge-bus.ts";
import { createSqsCommandQueue } from "../lib/aws/sqs-command-queue.ts";
import { createSqsWaker } from "../lib/aws/sqs-waker.ts";
import { createSsmSecrets } from "../lib/aws/ssm-secrets.ts";
import { createClient } from "../lib/client/client.ts";
import type { CommandDeps } from "../lib/commands/deps.ts";
import { updatePool } from "../lib/contract/load-balancer-pools.ts";
import { getTask } from "../lib/contract/tasks.ts";
import { createInvocationLog, type InvocationLog } from "../lib/lambda/invocation-log.ts";
import { readEnvironment } from "../lib/lambda/settings.ts";
import { keptFor, once } from "../lib/lambda/start-up.ts";
import { createSystemClock } from "../lib/system/system-clock.ts";
import { createSystemRandom } from "../lib/system/system-random.ts";
import { functionSettingsSchema } from "./settings.ts";

/** What a function is composed of; one composition, because all functions share one ledger. */
export interface FunctionDeps {
  readonly commands: CommandDeps;
  readonly log: InvocationLog;
  /** How long one call to the provider may take, so what a new piece of work needs at least. */
  readonly attemptTimeoutMs: number;
}

/** Longer than run-commands may live (30 s), so that an expired lease has no living holder. */
export const LEASE_MS = 45_000;

/** So soon a sandbox uses a key that was rotated; until then it may be refused. */
const KEY_MAX_AGE_MS = 60_000;

const loadDeps = async (): Promise<FunctionDeps> => {
  const settings = readEnvironment(functionSettingsSchema, process.env);
  const clock = createSystemClock();
  const random = createSystemRandom();
  const log = createInvocationLog();
  const secrets = createSsmSecrets({ client: new SSMClient() });
  const sqs = new SQSClient();
  const account = {
    name: DEFAULT_ACCOUNT,
    settleMs: settings.SETTLE_SECONDS * 1000,
    canList: settings.PROVIDER_HAS_LISTS,
    requestsPerSecond: settings.REQUESTS_PER_SECOND,
    client: createClient({
      baseUrl: settings.PROVIDER_BASE_URL,
      apiKey: keptFor(KEY_MAX_AGE_MS, clock, () => secrets.read(settings.API_KEY_PARAMETER)),
      fetch,
      clock,
      attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
      paths: { [getTask.id]: settings.TASK_PATH, [updatePool.id]: settings.POOL_PATH },
    }),
  };
  return {
    log,
    attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
    commands: {
      ledger: createDynamodbLedger({
        client: new DynamoDBClient(),
        tableName: settings.TABLE_NAME,
      }),
      queue: createSqsCommandQueue({ client: sqs, queueUrl: settings.COMMAND_QUEUE_URL }),
      waker: createSqsWaker({ client: sqs, queueUrl: settings.WAKE_QUEUE_URL, clock }),
      bus: createEventbridgeBus({
        client: new EventBridgeClient(),
        busName: settings.EVENT_BUS_NAME,
        source: settings.EVENT_SOURCE,
      }),
      clock,
      random,
      log,
      accountOf: (name) => (name === account.name ? account : undefined),
      ownSender: settings.OWN_SENDER,
      fingerprintKey: await secrets.read(settings.FINGERPRINT_KEY_PARAMETER),
      runner: random.uuid(),
      leaseMs: LEASE_MS,
    },
  };
};

export const getDeps = once(loadDeps);
