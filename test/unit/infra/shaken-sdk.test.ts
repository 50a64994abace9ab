import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { SSMClient } from "@aws-sdk/client-ssm";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { createEventbridgeBus } from "../../../lib/platform/aws/eventbridge-bus.ts";
import type { createS3ConfigSource } from "../../../lib/platform/aws/s3-config-source.ts";
import type { createSqsCommandQueue } from "../../../lib/platform/aws/sqs-queues.ts";
import type { createSsmSecrets } from "../../../lib/platform/aws/ssm-secrets.ts";
import { createStubAws, inTurn, type StubReply } from "../../support/stub-aws.ts";

interface Bundle {
  readonly createDynamodbLedger: typeof createDynamodbLedger;
  readonly createEventbridgeBus: typeof createEventbridgeBus;
  readonly createS3ConfigSource: typeof createS3ConfigSource;
  readonly createSqsCommandQueue: typeof createSqsCommandQueue;
  readonly createSsmSecrets: typeof createSsmSecrets;
  readonly DynamoDBClient: typeof DynamoDBClient;
  readonly EventBridgeClient: typeof EventBridgeClient;
  readonly S3Client: typeof S3Client;
  readonly SQSClient: typeof SQSClient;
  readonly SSMClient: typeof SSMClient;
}

const CONTENTS = `
  export { createDynamodbLedger } from "./lib/platform/aws/dynamodb-ledger.ts";
  export { createEventbridgeBus } from "./lib/platform/aws/eventbridge-bus.ts";
  export { createS3ConfigSource } from "./lib/platform/aws/s3-config-source.ts";
  export { createSqsCommandQueue } from "./lib/platform/aws/sqs-queues.ts";
  export { createSsmSecrets } from "./lib/platform/aws/ssm-secrets.ts";
  export { DynamoDBClient } from "@aws-sdk/client-dynamodb";
  export { EventBridgeClient } from "@aws-sdk/client-eventbridge";
  export { S3Client } from "@aws-sdk/client-s3";
  export { SQSClient } from "@aws-sdk/client-sqs";
  export { SSMClient } from "@aws-sdk/client-ssm";
`;

const load = (file: string) => import(/* @vite-ignore */ pathToFileURL(file).href);

let folder: string;
let aws: Bundle;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "skyhook-bundle-"));
  const { FOR_LAMBDA }: { FOR_LAMBDA: BuildOptions } = await load(resolve("infra/bundling.mjs"));
  await build({
    ...FOR_LAMBDA,
    stdin: { contents: CONTENTS, resolveDir: resolve(".") },
    entryNames: "adapters",
    outdir: folder,
  });
  aws = await load(join(folder, "adapters.mjs"));
});

afterAll(() => rm(folder, { recursive: true }));

const refusal = (type: string): StubReply => ({
  status: 400,
  body: { __type: type, message: "in the words of AWS" },
});

const ledgerOver = (...replies: readonly [StubReply, ...StubReply[]]) => {
  const stub = createStubAws(inTurn(...replies));
  const client = new aws.DynamoDBClient(stub.clientConfig);
  return { stub, ledger: aws.createDynamodbLedger({ client, tableName: "ledger" }) };
};

/** A config source over an S3 that gives the same answer to every request. */
const configOver = (statusCode: number, headers: Record<string, string>, body: string) => {
  const handle = async () => ({
    response: { statusCode, headers, body: Readable.from([Buffer.from(body)]) },
  });
  const client = new aws.S3Client({
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    requestHandler: { handle },
  });
  return aws.createS3ConfigSource({ client, bucket: "configs", key: "thresholds.yaml" });
};

test("a write in a bundle is a conflict if its condition fails", async () => {
  const { ledger } = ledgerOver(
    refusal("com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"),
  );

  expect(await ledger.write({ key: "a", version: 1, value: {} })).toBe("conflict");
});

test("a throttled request in a bundle is retried", async () => {
  const { ledger, stub } = ledgerOver(
    refusal("com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"),
    { status: 200, body: { Item: { pk: { S: "a" }, version: { N: "2" }, value: { S: "{}" } } } },
  );

  expect(await ledger.read("a")).toEqual({ key: "a", version: 2, value: {} });
  expect(stub.requests).toHaveLength(2);
});

test("an error that no adapter names keeps its name and message in a bundle", async () => {
  const { ledger } = ledgerOver(
    refusal("com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"),
  );

  await expect(ledger.read("a")).rejects.toMatchObject({
    name: "ResourceNotFoundException",
    message: "in the words of AWS",
    $fault: "client",
    $metadata: { httpStatusCode: 400 },
  });
});

test("a bundle reports why a parameter cannot be read", async () => {
  const stub = createStubAws(() => refusal("ParameterNotFound"));
  const secrets = aws.createSsmSecrets({ client: new aws.SSMClient(stub.clientConfig) });

  await expect(secrets.read("/skyhook/main/api-key")).rejects.toThrow(
    "secret /skyhook/main/api-key cannot be read: ParameterNotFound",
  );
});

test("a bundle reports why an event was not published", async () => {
  const stub = createStubAws(() => refusal("ResourceNotFoundException"));
  const client = new aws.EventBridgeClient(stub.clientConfig);
  const bus = aws.createEventbridgeBus({ client, busName: "events", source: "skyhook" });
  const detail = { metadata: {}, data: {} };

  const outcomes = await bus.publish([
    { detailType: "TaskFailed", time: 0, groupId: "a", deduplicationId: "b", detail },
  ]);

  expect(outcomes).toEqual([
    {
      kind: "failed",
      code: "ResourceNotFoundException",
      message: "in the words of AWS",
    },
  ]);
});

test("a bundle sends a message with its group, and reports a missing queue by its old name", async () => {
  const reply = {
    ...refusal("com.amazonaws.sqs#QueueDoesNotExist"),
    headers: { "x-amzn-query-error": "AWS.SimpleQueueService.NonExistentQueue;Sender" },
  };
  const stub = createStubAws(() => reply);
  const queue = aws.createSqsCommandQueue({
    client: new aws.SQSClient(stub.clientConfig),
    queueUrl: "https://sqs.eu-central-1.amazonaws.com/111122223333/commands.fifo",
  });

  const sending = queue.send({ body: "{}", groupId: "lane", deduplicationId: "id" });

  await expect(sending).rejects.toMatchObject({
    name: "AWS.SimpleQueueService.NonExistentQueue",
    message: "in the words of AWS",
    $metadata: { httpStatusCode: 400 },
  });
  expect(stub.requests[0]?.body).toMatchObject({ MessageGroupId: "lane" });
});

test("a bundle reads a config with its version", async () => {
  const source = configOver(206, { "x-amz-version-id": "v1" }, "thresholds: []\n");

  expect(await source.read()).toEqual({ text: "thresholds: []\n", version: "v1" });
});

test("a bundle distinguishes a missing config from one that it may not read", async () => {
  const xml = { "content-type": "application/xml" };
  const missing = configOver(404, xml, "<Error><Code>NoSuchKey</Code></Error>");
  const denied = configOver(403, xml, "<Error><Code>AccessDenied</Code></Error>");

  expect(await missing.read()).toBeUndefined();
  await expect(denied.read()).rejects.toMatchObject({ name: "AccessDenied" });
});
