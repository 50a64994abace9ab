import { GetQueueUrlCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Admin } from "../../admin/admin.ts";
import {
  type DeadLetterDeps,
  deleteDeadLetters,
  joinDeadLetters,
  listDeadLetters,
  previewDelete,
  previewRedrive,
  redriveDeadLetters,
} from "../../admin/dead-letters.ts";
import { createAwsClient } from "../../platform/aws/aws-client.ts";
import { createSqsDeadLetters } from "../../platform/aws/sqs-dead-letters.ts";
import { createSsmSecrets } from "../../platform/aws/ssm-secrets.ts";
import { once } from "../../platform/lambda/invocation.ts";
import type { Random } from "../../platform/ports/random.ts";
import { createAccess } from "../../provider/access.ts";
import type { AccountsConfig } from "../../provider/accounts-config.ts";
import { awsTrouble, stageResource } from "./aws.ts";
import type { StageLedger } from "./stage-ledger.ts";

export interface StageOptions {
  readonly stage: string;
  /** The accounts file of the stage; undefined: rights are not checked. */
  readonly accounts: AccountsConfig | undefined;
  readonly random: Random;
}

/** The dead letters of run-commands, of intake, and of the rules that send to intake's queue. */
const openQueues = async (stage: string, sqs: SQSClient, random: Random) => {
  const urlOf = async (thing: string): Promise<string> => {
    const QueueName = stageResource(stage, thing);
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
    return QueueUrl ?? "";
  };
  const [commandQueueUrl, requestQueueUrl, ...deadLetterUrls] = await Promise.all([
    urlOf("commands.fifo"),
    urlOf("requests"),
    urlOf("commands-dead-letter.fifo"),
    urlOf("requests-dead-letter"),
    urlOf("intake-dead-letter"),
  ]);
  const [ofCommands, ofRequests, ofIntake] = deadLetterUrls;
  const requests = { client: sqs, random, queue: "requests", queueUrl: requestQueueUrl } as const;
  const reactionRules = stageResource(stage, "reaction-");
  const deadLetters = joinDeadLetters([
    createSqsDeadLetters({
      client: sqs,
      random,
      deadLetterUrl: ofCommands,
      queue: "commands",
      queueUrl: commandQueueUrl,
    }),
    createSqsDeadLetters({ ...requests, deadLetterUrl: ofRequests }),
    createSqsDeadLetters({ ...requests, deadLetterUrl: ofIntake, reactionRules }),
  ]);
  return { commandQueueUrl, deadLetters };
};

/** The account in `https://sqs.REGION.amazonaws.com/ACCOUNT/NAME`. */
const awsAccountOf = (queueUrl: string): string => new URL(queueUrl).pathname.split("/")[1] ?? "";

/** The key of intake's seal. Undefined without the right to read it; the seal is not checked then. */
const fingerprintKeyOf = (stage: string): Promise<string | undefined> =>
  createSsmSecrets()
    .read(`/skyhook/${stage}/fingerprint-key`)
    .catch(() => undefined);

const openRecovery = async (
  { ledger, clock, learnTime }: StageLedger,
  { stage, accounts, random }: StageOptions,
): Promise<DeadLetterDeps> => {
  const sqs = createAwsClient(SQSClient);
  const { commandQueueUrl, deadLetters } = await openQueues(stage, sqs, random);
  const ownSender = awsAccountOf(commandQueueUrl);
  const fingerprintKey = await fingerprintKeyOf(stage);
  await learnTime();
  const access = accounts && createAccess(accounts, ownSender);
  return {
    deadLetters,
    context: () => ({
      ...{ ledger, access, ownSender, fingerprintKey },
      reactions: undefined,
      now: clock.now(),
    }),
  };
};

/**
 * The dead letters of a deployed stage, with the AWS credentials of the environment. Every method throws an
 * ExitError when AWS does not answer or refuses.
 */
export const stageDeadLetters = (
  stageLedger: StageLedger,
  options: StageOptions,
): Admin["deadLetters"] => {
  const opened = once(() => openRecovery(stageLedger, options));
  const at = async <T>(work: (recovery: DeadLetterDeps) => Promise<T>): Promise<T> => {
    try {
      return await work(await opened());
    } catch (error) {
      throw awsTrouble(error, `no stage ${options.stage} in this AWS account and region`);
    }
  };
  return {
    list: () => at(listDeadLetters),
    redrive: (selection) => at((recovery) => redriveDeadLetters(recovery, selection)),
    remove: (selection, isForced) =>
      at((recovery) => deleteDeadLetters(recovery, selection, isForced)),
    previewRedrive: (filter) =>
      at((recovery) => previewRedrive(recovery, { kind: "matching", filter })),
    previewRemove: (filter, isForced) =>
      at((recovery) => previewDelete(recovery, { kind: "matching", filter }, isForced)),
  };
};
