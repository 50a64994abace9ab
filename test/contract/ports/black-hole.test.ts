import { readdirSync, readFileSync } from "node:fs";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { S3Client } from "@aws-sdk/client-s3";
import { SQSClient } from "@aws-sdk/client-sqs";
import { SSMClient } from "@aws-sdk/client-ssm";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAwsClient, untilWorkEnds } from "../../../lib/platform/aws/aws-client.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { createEventbridgeBus } from "../../../lib/platform/aws/eventbridge-bus.ts";
import { createS3ConfigSource } from "../../../lib/platform/aws/s3-config-source.ts";
import { createSqsDeadLetters } from "../../../lib/platform/aws/sqs-dead-letters.ts";
import { createSqsCommandQueue, createSqsWaker } from "../../../lib/platform/aws/sqs-queues.ts";
import { createSsmSecrets } from "../../../lib/platform/aws/ssm-secrets.ts";
import type { HeldDeadLetter } from "../../../lib/platform/ports/dead-letters.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { endlessBody, halfABody, noAnswer, openBlackHole } from "./black-hole.ts";

const open = async (...[silence]: Parameters<typeof openBlackHole>) => {
  const hole = await openBlackHole(silence);
  onTestFinished(() => hole.close());
  return hole;
};

/** The SQS client takes its endpoint from the URL of the queue. */
const queueOf = (endpoint: string) => ({
  client: createAwsClient(SQSClient),
  queueUrl: `${endpoint}/000000000000/queue`,
});
const ledger = () =>
  createDynamodbLedger({ client: createAwsClient(DynamoDBClient), tableName: "ledger" });
const deadLetters = (endpoint: string) => {
  const { client, queueUrl } = queueOf(endpoint);
  const queues = { deadLetterUrl: queueUrl, queue: "commands", queueUrl } as const;
  return createSqsDeadLetters({ client, random: createSeededRandom(), ...queues });
};
const held: HeldDeadLetter = {
  messageId: "m",
  queue: "commands",
  hold: "h",
  body: "b",
  groupId: "g",
  arrivedAt: 0,
  receiveCount: 1,
};
const message = { body: "b", groupId: "g", deduplicationId: "d" };

/** Every adapter call that must reject when AWS does not respond. */
const CALLS: Readonly<Record<string, (endpoint: string) => Promise<unknown>>> = {
  "the ledger's read": () => ledger().read("task#1"),
  "the ledger's write": () => ledger().write({ key: "task#1", version: 1, value: {} }),
  "the ledger's due entries": () => ledger().listDue(1, 1, 0),
  "the ledger's list": () => ledger().list("2026-11-22#0", undefined, 1),
  "the command queue": (endpoint) => createSqsCommandQueue(queueOf(endpoint)).send(message),
  "the waker": (endpoint) =>
    createSqsWaker({ ...queueOf(endpoint), clock: createVirtualClock() }).wakeAt(0, 0),
  "the poll for dead letters": (endpoint) => deadLetters(endpoint).hold(),
  "the number of dead letters": (endpoint) => deadLetters(endpoint).count(),
  "the return of a dead letter": (endpoint) => deadLetters(endpoint).sendBack(held),
  "the removal of a dead letter": (endpoint) => deadLetters(endpoint).remove(held),
  "a secret": () => createSsmSecrets({ client: createAwsClient(SSMClient) }).read("/skyhook/key"),
  "a config": () => {
    const client = createAwsClient(S3Client);
    return createS3ConfigSource({ client, bucket: "configs", key: "thresholds.yaml" }).read();
  },
};

describe.each(Object.entries(CALLS))("%s, when AWS does not respond", (_name, call) => {
  it("fails within 12 seconds, after three attempts", async () => {
    const hole = await open(noAnswer);

    const { error, durationMs } = await hole.outcomeOf(call(hole.endpoint));

    expect(String(error)).toContain("TimeoutError");
    expect(hole.requests()).toBe(3);
    expect(durationMs).toBeLessThanOrEqual(12_000);
  });

  it.each([
    ["stops in the middle", halfABody],
    ["continues byte by byte without end", endlessBody],
  ])("fails when the response %s", async (_how, silence) => {
    const hole = await open(silence);

    const { error, durationMs } = await hole.outcomeOf(call(hole.endpoint));

    expect(error).toBeInstanceOf(Error);
    expect(hole.requests()).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(20_000);
  });
});

describe("the clients of AWS", () => {
  it("have time limits everywhere, including the command line", () => {
    const made = ["lib", "functions"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((file) => `${folder}/${file}`)
        .filter((file) => file.endsWith(".ts"))
        .filter((file) =>
          /new (DynamoDB|EventBridge|Lambda|S3|SQS|SSM)Client\b/.test(readFileSync(file, "utf8")),
        ),
    );

    expect(made).toEqual([]);
  });
});

describe("the bus, when AWS does not respond", () => {
  it("reports the entry as failed within 12 seconds", async () => {
    const hole = await open(noAnswer);
    const client = createAwsClient(EventBridgeClient);
    const bus = createEventbridgeBus({ client, busName: "bus", source: "skyhook" });
    const entry = {
      detailType: "Told",
      detail: {},
      time: 0,
      groupId: "g",
      deduplicationId: "d",
    };

    const publishing = bus.publish([entry]);
    const { durationMs } = await hole.outcomeOf(publishing);

    expect(await publishing).toMatchObject([{ kind: "failed", code: "TimeoutError" }]);
    expect(durationMs).toBeLessThanOrEqual(12_000);
  });
});

describe("a connection on which a response stops in the middle", () => {
  it("is closed, so that later calls do not wait for a free connection", async () => {
    const hole = await open(halfABody);
    hole.useRealTime();
    const reading = ledger()
      .read("task#1")
      .catch(() => undefined);

    await expect(hole.closedConnection()).resolves.toBeUndefined();

    await hole.close();
    await reading;
  });
});

it("allows slow work its full time, and starts it once", async () => {
  const hole = await open(noAnswer);
  const client = createAwsClient(LambdaClient, untilWorkEnds(30_000));

  const call = client.send(new InvokeCommand({ FunctionName: "job" }));
  const { error, durationMs } = await hole.outcomeOf(call);

  expect(String(error)).toContain("TimeoutError");
  expect(durationMs).toBeGreaterThan(30_000);
  expect(durationMs).toBeLessThan(40_000);
  expect(hole.requests()).toBe(1);
});
