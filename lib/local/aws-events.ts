import { createHash } from "node:crypto";
import type {
  Context,
  S3ObjectCreatedNotificationEvent,
  ScheduledEvent,
  SQSEvent,
  SQSRecord,
} from "aws-lambda";
import { deployment } from "../platform/deployment.ts";
import type { Clock } from "../platform/ports/clock.ts";
import type { Random } from "../platform/ports/random.ts";
import type { Wake } from "./delay-queue.ts";
import type { ReceivedMessage } from "./fifo-queue.ts";
import { LOCAL_SENDER } from "./local-sender.ts";

const REGION = "us-east-1";

const sqsRecord = (
  queue: string,
  record: Pick<SQSRecord, "messageId" | "receiptHandle" | "body" | "attributes">,
): SQSRecord => ({
  ...record,
  messageAttributes: {},
  md5OfBody: createHash("md5").update(record.body).digest("hex"),
  eventSource: "aws:sqs",
  eventSourceARN: `arn:aws:sqs:${REGION}:${LOCAL_SENDER}:${queue}`,
  awsRegion: REGION,
});

/**
 * Lambda's event for messages of an SQS FIFO queue.
 * Shape: AWS Lambda developer guide, "Using Lambda with Amazon SQS", FIFO example event.
 */
export const fifoQueueEvent = (queue: string, messages: readonly ReceivedMessage[]): SQSEvent => ({
  Records: messages.map(({ messageId, receiptHandle, body, attributes }) =>
    sqsRecord(queue, { messageId, receiptHandle, body, attributes: { ...attributes } }),
  ),
});

/**
 * Lambda's event for messages of a standard SQS queue.
 * Shape: AWS Lambda developer guide, "Using Lambda with Amazon SQS", standard example event.
 */
export const requestQueueEvent = (
  queue: string,
  messages: readonly ReceivedMessage[],
): SQSEvent => ({
  Records: messages.map(({ messageId, receiptHandle, body, attributes }) => {
    const { SequenceNumber, MessageDeduplicationId, MessageGroupId, ...standard } = attributes;
    return sqsRecord(queue, { messageId, receiptHandle, body, attributes: standard });
  }),
});

/** Lambda's event for messages of the wake queue. */
export const wakeQueueEvent = (queue: string, wakes: readonly Wake[]): SQSEvent => ({
  Records: wakes.map(({ wakeId, at, shard }) =>
    sqsRecord(queue, {
      messageId: wakeId,
      receiptHandle: wakeId,
      body: String(shard),
      attributes: {
        ApproximateReceiveCount: "1",
        SentTimestamp: String(at),
        SenderId: LOCAL_SENDER,
        ApproximateFirstReceiveTimestamp: String(at),
      },
    }),
  ),
});

/**
 * Event of an EventBridge Scheduler schedule without an input for its target. It equals the event of a
 * scheduled rule, but `detail` is text, as recorded events show.
 */
export const scheduledEvent = (
  schedule: string,
  at: number,
  random: Random,
): ScheduledEvent<string> => ({
  version: "0",
  id: random.uuid(),
  "detail-type": "Scheduled Event",
  source: "aws.scheduler",
  account: LOCAL_SENDER,
  time: `${new Date(at).toISOString().slice(0, 19)}Z`,
  region: REGION,
  resources: [`arn:aws:scheduler:${REGION}:${LOCAL_SENDER}:schedule/default/${schedule}`],
  detail: "{}",
});

/**
 * S3's event on the default bus for a written object.
 * Shape: Amazon S3 user guide, "EventBridge event message structure".
 * @param object `sequencer` grows with every write of the key
 */
export const objectCreatedEvent = (
  object: { readonly key: string; readonly version: string; readonly sequencer: string },
  at: number,
  random: Random,
): S3ObjectCreatedNotificationEvent => ({
  version: "0",
  id: random.uuid(),
  "detail-type": "Object Created",
  source: "aws.s3",
  account: LOCAL_SENDER,
  time: `${new Date(at).toISOString().slice(0, 19)}Z`,
  region: REGION,
  resources: ["arn:aws:s3:::local"],
  detail: {
    version: "0",
    bucket: { name: "local" },
    object: {
      key: object.key,
      size: 0,
      etag: object.version,
      "version-id": object.version,
      sequencer: object.sequencer,
    },
    "request-id": random.uuid(),
    requester: LOCAL_SENDER,
    "source-ip-address": "127.0.0.1",
    reason: "PutObject",
  },
});

/** Context of a local invocation: Lambda's shape, with its time by the given clock. */
export const lambdaContext = (
  functionName: string,
  timeoutMs: number,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Context => {
  const endsAt = clock.now() + timeoutMs;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:us-east-1:000000000000:function:${functionName}`,
    memoryLimitInMB: String(deployment.memoryMegabytes),
    awsRequestId: random.uuid(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    getRemainingTimeInMillis: () => Math.max(0, endsAt - clock.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
};
