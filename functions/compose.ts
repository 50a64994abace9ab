import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import type * as z from "zod";
import { readRequest } from "../lib/engine/read-request.ts";
import type { RequestContext } from "../lib/engine/request.ts";
import { createShards } from "../lib/engine/shards.ts";
import { createAwsClient } from "../lib/platform/aws/aws-client.ts";
import { createDynamodbLedger } from "../lib/platform/aws/dynamodb-ledger.ts";
import { createEventbridgeBus } from "../lib/platform/aws/eventbridge-bus.ts";
import { createS3ConfigSource } from "../lib/platform/aws/s3-config-source.ts";
import { shareCalls } from "../lib/platform/aws/shared-calls.ts";
import { createSqsCommandQueue, createSqsWaker } from "../lib/platform/aws/sqs-queues.ts";
import { createSsmSecrets } from "../lib/platform/aws/ssm-secrets.ts";
import { repeatThrottled } from "../lib/platform/aws/throttled-entries.ts";
import { ATTEMPT_LEASE_MS } from "../lib/platform/deployment.ts";
import { once } from "../lib/platform/lambda/invocation.ts";
import { createEmfMetrics, createInvocationLog } from "../lib/platform/lambda/powertools.ts";
import { readEnvironment, SettingsError } from "../lib/platform/lambda/settings.ts";
import { createSystemClock, createSystemRandom } from "../lib/platform/system.ts";
import { createAccess } from "../lib/provider/access.ts";
import { openAccounts } from "../lib/provider/accounts.ts";
import type { AccountsConfig } from "../lib/provider/accounts-config.ts";
import { parseAccounts } from "../lib/provider/accounts-config.ts";
import type {
  CommandSettings,
  ConfigSettings,
  FunctionSettings,
  JobSettings,
  ProviderSettings,
  RequestSettings,
} from "./settings.ts";

type Handler<E, R> = (event: E, context: Context) => Promise<R>;

/** Longest start-up in Lambda's init phase, which may take 10 s; the first call waits for the rest. */
const INIT_MS = 5_000;

/**
 * Makes the handler of a deployed function. Reads the settings from the environment and composes the function in
 * Lambda's init phase, which has the CPU time of a whole core. If that fails, the first call tries again, and each
 * call after it until one succeeds.
 */
export const deployed = async <S extends z.ZodType, E, R>(
  settings: S,
  compose: (settings: z.output<S>) => Handler<E, R> | Promise<Handler<E, R>>,
): Promise<Handler<E, R>> => {
  const start = once(async () => compose(readEnvironment(settings, process.env)));
  const started = start().catch(() => undefined);
  const ended = new AbortController();
  await Promise.race([started, createSystemClock().sleep(INIT_MS, ended.signal)]);
  ended.abort();
  return async (event, context) => ((await started) ?? (await start()))(event, context);
};

/**
 * Reads a JSON file of the function's package.
 * @param setting name of the environment variable with the file's path, for the error
 * @throws SettingsError when the file is missing or is not JSON
 */
export const readPackagedJson = (root: string, file: string, setting: string): unknown => {
  try {
    return JSON.parse(readFileSync(resolve(root, file), "utf8"));
  } catch {
    throw new SettingsError([{ path: setting, rule: "no such JSON file in the package" }]);
  }
};

/** @throws SettingsError when the packaged accounts cannot be read */
export const readAccounts = (settings: FunctionSettings): AccountsConfig =>
  parseAccounts(
    readPackagedJson(settings.LAMBDA_TASK_ROOT, settings.ACCOUNTS_FILE, "ACCOUNTS_FILE"),
  );

/**
 * Ports that every function has: all share one ledger and one bus.
 * @param shards of the due index; default: one, which every stage has
 */
export const createPorts = (settings: FunctionSettings, shards = createShards(1)) => {
  const clock = createSystemClock();
  const random = createSystemRandom();
  const bus = createEventbridgeBus({
    client: createAwsClient(EventBridgeClient),
    busName: settings.EVENT_BUS_NAME,
    source: settings.EVENT_SOURCE,
  });
  return {
    ledger: createDynamodbLedger({
      client: createAwsClient(DynamoDBClient),
      tableName: settings.TABLE_NAME,
      shardOf: shards.of,
    }),
    bus: repeatThrottled(shareCalls(bus, clock), { clock, random }),
    clock,
    random,
    log: createInvocationLog(),
    metrics: createEmfMetrics(settings.STAGE),
    secrets: createSsmSecrets(),
  };
};

type Ports = ReturnType<typeof createPorts>;

/** The ports with the accounts at the provider. */
const withAccounts = (ports: Ports, accounts: AccountsConfig, settings: ProviderSettings) => ({
  ...ports,
  accountOf: openAccounts(accounts, {
    ...ports,
    // A deployment holds no keys: the packaging refuses accounts with `environment`.
    environment: {},
    fetch,
    attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
  }),
});

/** Configuration to read requests, and to seal them between intake and the functions of commands. */
export const requestConfigOf = async (
  settings: RequestSettings,
  accounts: AccountsConfig,
  { secrets }: Ports,
) => ({
  access: createAccess(accounts, settings.OWN_SENDER),
  ownSender: settings.OWN_SENDER,
  fingerprintKey: await secrets.read(settings.FINGERPRINT_KEY_PARAMETER),
});

export const createQueue = (
  { COMMAND_QUEUE_URL: queueUrl }: RequestSettings,
  client: SQSClient = createAwsClient(SQSClient),
) => createSqsCommandQueue({ client, queueUrl });

/**
 * Does in the init phase what the first command would do: the schemas of a request are built when one is first parsed,
 * and the first `Request` of a process loads the code of `fetch`.
 */
const warmUp = (context: RequestContext): void => {
  readRequest({}, context);
  new Request("http://localhost");
};

/** Ports and config of run-commands and poll-tasks, which both advance commands. */
export const composeCommands = async (settings: CommandSettings) => {
  const accounts = readAccounts(settings);
  const shards = createShards(settings.DUE_SHARDS);
  const ports = withAccounts(createPorts(settings, shards), accounts, settings);
  const client = createAwsClient(SQSClient);
  const requestConfig = await requestConfigOf(settings, accounts, ports);
  warmUp({ ...requestConfig, sender: settings.OWN_SENDER });
  return {
    ports: {
      ...ports,
      queue: createQueue(settings, client),
      waker: createSqsWaker({ client, queueUrl: settings.WAKE_QUEUE_URL, clock: ports.clock }),
    },
    config: {
      ...requestConfig,
      runner: ports.random.uuid(),
      leaseMs: ATTEMPT_LEASE_MS,
      attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
      shards,
    },
  };
};

/**
 * Ports and config of a scheduled job.
 * @throws SettingsError when the accounts cannot be read, or JOB_ACCOUNT is not one of them
 */
export const composeJob = (settings: JobSettings) => {
  const ports = withAccounts(createPorts(settings), readAccounts(settings), settings);
  const { JOB_ACCOUNT: jobAccount } = settings;
  if (!ports.accountOf(jobAccount)) {
    throw new SettingsError([{ path: "JOB_ACCOUNT", rule: "no such account in ACCOUNTS_FILE" }]);
  }
  return { ports, config: { jobAccount } };
};

/** The S3 object with the config file of a job. */
export const createConfigSource = ({ CONFIG_BUCKET: bucket, CONFIG_KEY: key }: ConfigSettings) =>
  createS3ConfigSource({ client: createAwsClient(S3Client), bucket, key });
