import { randomUUID } from "node:crypto";
import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { InvokeCommand } from "@aws-sdk/client-lambda";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { GetQueueUrlCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { DeleteParametersCommand, PutParameterCommand } from "@aws-sdk/client-ssm";
import { DEMO_REACTIONS, DEMO_TEAM } from "../../lib/cli/demo/world.ts";
import { type Closing, createClosing } from "../../lib/local/closing.ts";
import { accountsAt } from "../system/scenarios/configs.ts";
import type { ForeignEvent, Stage } from "../system/scenarios/stage.ts";
import { AWS_ACCOUNT, type AwsClients, createAwsClients, REGION } from "./aws-clients.ts";
import { type DeployedStack, deployStack } from "./deployed-stack.ts";
import { allowPlainHttp, alsoSendTo, putFromOtherAccount } from "./emulator-defects.ts";
import { readTap } from "./event-tap.ts";
import { removeBucket } from "./kept-resources.ts";
import { type ProviderService, serveProvider } from "./provider-service.ts";
import { createTap, tapBus } from "./tap.ts";

/** Longer than the period of a schedule, shorter than the time limit of a test. */
const LIMIT_MS = 100_000;

export interface DeployedStage extends Stage {
  readonly stack: DeployedStack;
  readonly service: ProviderService;
  /** Name of the SSM parameter with the API key. */
  readonly keyParameter: string;
  /** Error of a function that read a config over plain HTTP, before the bucket's policy was removed. */
  readonly bucketRefusal: string;
}

/** Invokes snapshot-prices like its hourly schedule. @returns its result or its error */
export const callSnapshotPrices = async ({ aws, nameOf }: DeployedStack): Promise<string> => {
  const tick = { time: new Date(Date.now()).toISOString() };
  const { Payload } = await aws.lambda.send(
    new InvokeCommand({ FunctionName: nameOf("snapshot-prices"), Payload: JSON.stringify(tick) }),
  );
  return Payload?.transformToString() ?? "";
};

const putSecrets = async (
  { ssm }: AwsClients,
  secrets: Readonly<Record<string, string>>,
  closing: Closing,
): Promise<void> => {
  closing.add(async () => {
    await ssm.send(new DeleteParametersCommand({ Names: Object.keys(secrets) }));
  });
  for (const [Name, Value] of Object.entries(secrets)) {
    await ssm.send(new PutParameterCommand({ Name, Value, Type: "SecureString" }));
  }
};

/** Puts an event on the stage's bus as the given AWS account. @returns its id */
const putEvent = async (
  aws: AwsClients,
  busName: string,
  account: string,
  { source, detailType, detail }: ForeignEvent,
): Promise<string> => {
  if (account === AWS_ACCOUNT) {
    const { Entries } = await aws.eventBridge.send(
      new PutEventsCommand({
        Entries: [
          {
            EventBusName: busName,
            Source: source,
            DetailType: detailType,
            Detail: JSON.stringify(detail),
          },
        ],
      }),
    );
    return String(Entries?.[0]?.EventId);
  }
  const id = randomUUID();
  await putFromOtherAccount(aws, busName, {
    version: "0",
    id,
    account,
    source,
    "detail-type": detailType,
    time: new Date(Date.now()).toISOString(),
    region: REGION,
    resources: [],
    detail,
  });
  return id;
};

const openTap = async (aws: AwsClients, name: string, closing: Closing) => {
  const tap = await createTap(aws, name);
  closing.add(tap.remove);
  const { events, stop } = readTap(tap, LIMIT_MS);
  closing.add(stop);
  return { tap, events };
};

const open = async (endpoint: string, name: string, closing: Closing): Promise<DeployedStage> => {
  const aws = createAwsClients(endpoint);
  const service = await serveProvider();
  closing.add(service.close);
  const keyParameter = `/skyhook/${name}/api-key`;
  const fingerprintKey = `/skyhook/${name}/fingerprint-key`;
  const secrets = { [keyParameter]: service.apiKey, [fingerprintKey]: randomUUID() };
  await putSecrets(aws, secrets, closing);
  const files = {
    "accounts.yaml": accountsAt(service.url, keyParameter),
    "reactions.yaml": DEMO_REACTIONS,
  };
  const params = { accountsFile: "accounts.yaml", reactionsFile: "reactions.yaml" };
  const stack = await deployStack(endpoint, { name, files, params }, closing);
  const { nameOf } = stack;
  const bucket = String(stack.outputs.ConfigBucketName);
  // The template retains the bucket when the stack is removed.
  closing.add(() => removeBucket(aws, bucket));
  const bucketRefusal = await callSnapshotPrices(stack);
  await allowPlainHttp(aws, bucket);
  const busName = nameOf("events");
  const all = await openTap(aws, nameOf("tap"), closing);
  const ours = { source: ["skyhook"], account: [AWS_ACCOUNT] };
  closing.add(await tapBus(aws, all.tap, busName, ours));
  const ofTeam = await openTap(aws, nameOf("team-tap"), closing);
  const subscriber = { Rule: nameOf(`subscriber-${DEMO_TEAM}`), EventBusName: busName };
  closing.add(await alsoSendTo(aws, subscriber, ofTeam.tap.queueArn));
  const { QueueUrl } = await aws.sqs.send(
    new GetQueueUrlCommand({ QueueName: nameOf("commands.fifo") }),
  );
  return {
    stack,
    service,
    keyParameter,
    bucketRefusal,
    ownSender: AWS_ACCOUNT,
    provider: { baseUrl: service.url, apiKey: service.apiKey },
    events: all.events,
    teamEvents: ofTeam.events,
    async send(body, MessageGroupId, MessageDeduplicationId) {
      const MessageBody = JSON.stringify(body);
      await aws.sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId }),
      );
    },
    putFrom: (account, event) => putEvent(aws, busName, account, event),
    async writeThresholds(text) {
      await aws.s3.send(
        new PutObjectCommand({ Bucket: bucket, Key: "thresholds.yaml", Body: text }),
      );
    },
    close: closing.close,
  };
};

/**
 * A stage on the emulator, and the provider that it uses. The name of the stage is unique, so that remains of an
 * interrupted run have no effect.
 */
export const openDeployedStage = async (endpoint: string): Promise<DeployedStage> => {
  const closing = createClosing();
  try {
    return await open(endpoint, `t${randomUUID().slice(0, 8)}`, closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
};
