import { SQSClient } from "@aws-sdk/client-sqs";
import type { CommandDeps } from "../lib/engine/deps.ts";
import { createAwsClient } from "../lib/platform/aws/aws-client.ts";
import { createSqsCommandQueue } from "../lib/platform/aws/sqs-command-queue.ts";
import { createSqsWaker } from "../lib/platform/aws/sqs-waker.ts";
import { ATTEMPT_LEASE_MS } from "../lib/platform/deployment.ts";
import type { InvocationLog } from "../lib/platform/lambda/invocation-log.ts";
import { readEnvironment } from "../lib/platform/lambda/settings.ts";
import { once } from "../lib/platform/lambda/start-up.ts";
import { createAccess } from "../lib/provider/access.ts";
import { createFunctionDeps, openFunctionAccounts } from "./deps.ts";
import { commandSettingsSchema } from "./settings.ts";

/** What run-commands and poll-tasks are composed of: both advance commands. */
export interface CommandFunctionDeps {
  readonly commands: CommandDeps;
  readonly log: InvocationLog;
  /** How long one call to the provider may take, so what a new piece of work needs at least. */
  readonly attemptTimeoutMs: number;
}

const loadDeps = async (): Promise<CommandFunctionDeps> => {
  const settings = readEnvironment(commandSettingsSchema, process.env);
  const functionDeps = createFunctionDeps(settings);
  const { accounts, secrets, ...deps } = functionDeps;
  const sqs = createAwsClient(SQSClient);
  return {
    log: deps.log,
    attemptTimeoutMs: settings.ATTEMPT_TIMEOUT_MS,
    commands: {
      ...deps,
      queue: createSqsCommandQueue({ client: sqs, queueUrl: settings.COMMAND_QUEUE_URL }),
      waker: createSqsWaker({
        client: sqs,
        queueUrl: settings.WAKE_QUEUE_URL,
        clock: deps.clock,
      }),
      accountOf: openFunctionAccounts(settings, functionDeps),
      access: createAccess(accounts, settings.OWN_SENDER),
      ownSender: settings.OWN_SENDER,
      fingerprintKey: await secrets.read(settings.FINGERPRINT_KEY_PARAMETER),
      runner: deps.random.uuid(),
      leaseMs: ATTEMPT_LEASE_MS,
    },
  };
};

export const getCommandDeps = once(loadDeps);
