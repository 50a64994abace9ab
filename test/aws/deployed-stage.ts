import { randomUUID } from "node:crypto";
import { InvokeCommand } from "@aws-sdk/client-lambda";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { GetQueueUrlCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { DEMO_REACTIONS, DEMO_TEAM } from "../../lib/local/demo-teams.ts";
import { accountsAt } from "../scenarios/configs.ts";
import type { Stage } from "../scenarios/stage.ts";
import { AWS_ACCOUNT, REGION } from "./aws-clients.ts";
import { type DeployedStack, deployStack } from "./deployed-stack.ts";
import { allowPlainHttp, alsoSendTo, putFromOtherAccount } from "./emulator-defects.ts";
import { openEventTap, tapBus } from "./event-tap.ts";
import { type ProviderService, serveProvider } from "./provider-service.ts";

/** Calls it as its schedule does once an hour. @returns what it answers, or its error */
export const callSnapshotPrices = async ({ aws, nameOf }: DeployedStack): Promise<string> => {
  const tick = { time: new Date(Date.now()).toISOString() };
  const { Payload } = await aws.lambda.send(
    new InvokeCommand({ FunctionName: nameOf("snapshot-prices"), Payload: JSON.stringify(tick) }),
  );
  return Payload?.transformToString() ?? "";
};

/** Longer than two ticks of a schedule that calls once a minute. */
const LIMIT_MS = 130_000;

export interface DeployedStage extends Stage {
  readonly stack: DeployedStack;
  readonly service: ProviderService;
  /** What a function got to hear that read a config before the bucket's policy was taken away. */
  readonly bucketRefusal: string;
}

/** Skyhook deployed to the emulator, and the provider that it uses. */
export const openDeployedStage = async (endpoint: string, name: string): Promise<DeployedStage> => {
  const service = await serveProvider();
  const parameter = `/skyhook/${name}/api-key`;
  const stack = await deployStack(
    endpoint,
    {
      name,
      files: {
        "accounts.yaml": accountsAt(service.url, parameter),
        "reactions.yaml": DEMO_REACTIONS,
      },
      params: { accountsFile: "accounts.yaml", reactionsFile: "reactions.yaml" },
    },
    { [parameter]: service.apiKey, [`/skyhook/${name}/fingerprint-key`]: randomUUID() },
  );
  const { aws, nameOf, outputs } = stack;
  const bucket = String(outputs.ConfigBucketName);
  const bucketRefusal = await callSnapshotPrices(stack);
  await allowPlainHttp(aws, bucket);
  const busName = nameOf("events");
  const tap = await openEventTap(aws, nameOf("tap"), LIMIT_MS);
  const untap = await tapBus(aws, { busName, source: "skyhook", awsAccount: AWS_ACCOUNT }, tap);
  const teamTap = await openEventTap(aws, nameOf("team-tap"), LIMIT_MS);
  const subscriber = { Rule: nameOf(`subscriber-${DEMO_TEAM}`), EventBusName: busName };
  await alsoSendTo(aws, subscriber, teamTap.queueArn);
  const { QueueUrl } = await aws.sqs.send(
    new GetQueueUrlCommand({ QueueName: nameOf("commands.fifo") }),
  );
  return {
    stack,
    service,
    bucketRefusal,
    ownSender: AWS_ACCOUNT,
    provider: { baseUrl: service.url, apiKey: service.apiKey },
    events: tap.events,
    teamEvents: teamTap.events,
    async send(body, MessageGroupId, MessageDeduplicationId) {
      const MessageBody = JSON.stringify(body);
      await aws.sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId, MessageDeduplicationId }),
      );
    },
    async putFrom(account, { source, detailType, detail }) {
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
    },
    async writeThresholds(text) {
      await aws.s3.send(
        new PutObjectCommand({ Bucket: bucket, Key: "thresholds.yaml", Body: text }),
      );
    },
    async close() {
      await untap();
      await tap.close();
      await teamTap.close();
      await stack.remove();
      await service.close();
    },
  };
};
