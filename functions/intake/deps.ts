import { SQSClient } from "@aws-sdk/client-sqs";
import type { IntakeDeps } from "../../lib/intake/ingest.ts";
import { parseReactions } from "../../lib/intake/reactions-config.ts";
import { createAwsClient } from "../../lib/platform/aws/aws-client.ts";
import { createSqsCommandQueue } from "../../lib/platform/aws/sqs-command-queue.ts";
import type { InvocationLog } from "../../lib/platform/lambda/invocation-log.ts";
import { readEnvironment, SettingsError } from "../../lib/platform/lambda/settings.ts";
import { once } from "../../lib/platform/lambda/start-up.ts";
import { createAccess } from "../../lib/provider/access.ts";
import { createFunctionDeps } from "../deps.ts";
import { readPackagedJson } from "../packaged-file.ts";
import { intakeSettingsSchema } from "../settings.ts";

export interface IntakeFunctionDeps {
  readonly intake: IntakeDeps;
  readonly log: InvocationLog;
}

const loadDeps = async (): Promise<IntakeFunctionDeps> => {
  const settings = readEnvironment(intakeSettingsSchema, process.env);
  const { accounts, secrets, ...deps } = createFunctionDeps(settings);
  const file = readPackagedJson(
    settings.LAMBDA_TASK_ROOT,
    settings.REACTIONS_FILE,
    "REACTIONS_FILE",
  );
  const eventSource = settings.EVENT_SOURCE;
  const reactions = parseReactions(file, { accounts, eventSource });
  if (reactions.kind === "invalid") throw new SettingsError(reactions.problems);
  return {
    log: deps.log,
    intake: {
      ...deps,
      queue: createSqsCommandQueue({
        client: createAwsClient(SQSClient),
        queueUrl: settings.COMMAND_QUEUE_URL,
      }),
      access: createAccess(accounts, settings.OWN_SENDER),
      ownSender: settings.OWN_SENDER,
      fingerprintKey: await secrets.read(settings.FINGERPRINT_KEY_PARAMETER),
      eventSource,
      reactions: reactions.value,
    },
  };
};

export const getDeps = once(loadDeps);
