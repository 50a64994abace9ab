import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { createAccess } from "../accounts/access.ts";
import type { AccountsConfig } from "../accounts/config.ts";
import { createAwsClient } from "../aws/aws-client.ts";
import { createDynamodbLedger } from "../aws/dynamodb-ledger.ts";
import { createSqsDeadLetters } from "../aws/sqs-dead-letters.ts";
import { createSsmSecrets } from "../aws/ssm-secrets.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import {
  deleteDeadLetters,
  listDeadLetters,
  type RecoveryDeps,
  redriveDeadLetters,
} from "../recovery/settle.ts";
import { awsClock } from "./aws-clock.ts";
import { awsTrouble } from "./aws-trouble.ts";
import type { DeadLetterDesk } from "./dead-letter-desk.ts";
import { stageResource } from "./stage-option.ts";

export interface StageOptions {
  readonly stage: string;
  /** Who may do what there; undefined: rights are not checked. */
  readonly accounts: AccountsConfig | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

interface Stage {
  readonly sqs: SQSClient;
  readonly commandQueueUrl: string;
  readonly deadLetterUrl: string;
}

const openQueues = async (stage: string): Promise<Stage> => {
  const sqs = createAwsClient(SQSClient);
  const urlOf = async (thing: string): Promise<string> => {
    const QueueName = stageResource(stage, thing);
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
    return QueueUrl ?? "";
  };
  return {
    sqs,
    commandQueueUrl: await urlOf("commands.fifo"),
    deadLetterUrl: await urlOf("commands-dead-letter.fifo"),
  };
};

/** `https://sqs.REGION.amazonaws.com/ACCOUNT/NAME` */
const awsAccountOf = (queueUrl: string): string => new URL(queueUrl).pathname.split("/")[1] ?? "";

/** What intake seals with; undefined for whoever may not read it, who sees everything but the seal. */
const fingerprintKeyOf = (stage: string): Promise<string | undefined> =>
  createSsmSecrets({ client: createAwsClient(SSMClient) })
    .read(`/skyhook/${stage}/fingerprint-key`)
    .catch(() => undefined);

const openRecovery = async (options: StageOptions): Promise<RecoveryDeps> => {
  const { stage, accounts, clock, random } = options;
  const { sqs, ...urls } = await openQueues(stage);
  const ownSender = awsAccountOf(urls.commandQueueUrl);
  const time = awsClock(clock, sqs);
  const ledger = createDynamodbLedger({
    client: createAwsClient(DynamoDBClient),
    tableName: stageResource(stage, "ledger"),
  });
  const fingerprintKey = await fingerprintKeyOf(stage);
  const access = accounts && createAccess(accounts, ownSender);
  return {
    deadLetters: createSqsDeadLetters({ client: sqs, random, ...urls }),
    context: () => ({ ledger, access, ownSender, fingerprintKey, now: time.now() }),
  };
};

/**
 * The dead letters of a deployed stage, with the AWS credentials of the environment. Its methods
 * throw an ExitError when AWS is not reached or refuses.
 */
export const stageDeadLetterDesk = (options: StageOptions): DeadLetterDesk => {
  const at = async <T>(work: (recovery: RecoveryDeps) => Promise<T>): Promise<T> => {
    try {
      return await work(await openRecovery(options));
    } catch (error) {
      throw awsTrouble(error, `stage ${options.stage} is not in this AWS account and region`);
    }
  };
  return {
    list: () => at(listDeadLetters),
    redrive: (selection) => at((recovery) => redriveDeadLetters(recovery, selection)),
    remove: (ids, isForced) => at((recovery) => deleteDeadLetters(recovery, ids, isForced)),
  };
};
