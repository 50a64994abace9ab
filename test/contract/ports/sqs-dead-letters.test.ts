import { createHash } from "node:crypto";
import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import {
  createSqsDeadLetters,
  type SqsDeadLettersOptions,
} from "../../../lib/platform/aws/sqs-dead-letters.ts";
import type { HeldDeadLetter } from "../../../lib/platform/ports/dead-letters.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createStubAws, type SentRequest, type StubReply } from "../../support/stub-aws.ts";

const QUEUES = "https://sqs.eu-central-1.amazonaws.com/111122223333";
const deadLetterUrl = `${QUEUES}/commands-dead-letter.fifo`;
const queueUrl = `${QUEUES}/commands.fifo`;

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
const denied: StubReply = {
  status: 403,
  body: { __type: "com.amazonaws.sqs#AccessDenied", message: "not you" },
};
const done: StubReply = { status: 200, body: {} };
const sent: StubReply = { status: 200, body: { MessageId: "m2", MD5OfMessageBody: md5("{}") } };

const letter: HeldDeadLetter = {
  messageId: "m1",
  queue: "commands",
  body: "{}",
  groupId: "g1",
  arrivedAt: 1,
  receiveCount: 11,
  hold: "handle-1",
};

const open = (
  replies: Readonly<Record<string, StubReply>>,
  more: Partial<SqsDeadLettersOptions> = {},
) => {
  const aws = createStubAws(({ operation }: SentRequest) => replies[operation] ?? denied);
  const client = new SQSClient(aws.clientConfig);
  const random = createSeededRandom();
  const options = { client, random, deadLetterUrl, queue: "commands", queueUrl } as const;
  return { aws, letters: createSqsDeadLetters({ ...options, ...more }) };
};

describe("the dead letters on SQS", () => {
  test("are received for a minute, with the attributes needed to describe and redrive them", async () => {
    const Attributes = {
      MessageGroupId: "g1",
      SentTimestamp: "1767225600000",
      ApproximateReceiveCount: "11",
    };
    const message = { MessageId: "m1", ReceiptHandle: "handle-1", Body: "{}", Attributes };
    const { aws, letters } = open({
      ReceiveMessage: { status: 200, body: { Messages: [{ ...message, MD5OfBody: md5("{}") }] } },
    });

    expect(await letters.hold()).toEqual([{ ...letter, arrivedAt: 1767225600000 }]);

    expect(aws.requests).toEqual([
      {
        operation: "ReceiveMessage",
        body: {
          QueueUrl: deadLetterUrl,
          MaxNumberOfMessages: 10,
          VisibilityTimeout: 60,
          WaitTimeSeconds: 2,
          MessageSystemAttributeNames: [
            "MessageGroupId",
            "SentTimestamp",
            "ApproximateReceiveCount",
          ],
        },
      },
    ]);
  });

  test("are released by making them visible at once, and a failure to release one is ignored", async () => {
    const { aws, letters } = open({});

    await letters.release([letter, { ...letter, hold: "handle-2" }]);

    expect(aws.requests.map(({ body }) => body)).toEqual([
      { QueueUrl: deadLetterUrl, ReceiptHandle: "handle-1", VisibilityTimeout: 0 },
      { QueueUrl: deadLetterUrl, ReceiptHandle: "handle-2", VisibilityTimeout: 0 },
    ]);
  });

  test("are sent to their group with a new id, and only then deleted", async () => {
    const { aws, letters } = open({ SendMessage: sent, DeleteMessage: done });

    expect(await letters.sendBack(letter)).toEqual({ kind: "sent-back" });

    expect(aws.requests).toEqual([
      {
        operation: "SendMessage",
        body: {
          QueueUrl: queueUrl,
          MessageBody: "{}",
          MessageGroupId: "g1",
          MessageDeduplicationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      },
      { operation: "DeleteMessage", body: { QueueUrl: deadLetterUrl, ReceiptHandle: "handle-1" } },
    ]);
  });

  test("stay in the dead-letter queue when the command queue refuses them", async () => {
    const { aws, letters } = open({ DeleteMessage: done });

    await expect(letters.sendBack(letter)).rejects.toMatchObject({ name: "AccessDenied" });

    expect(aws.requests.map(({ operation }) => operation)).toEqual(["SendMessage"]);
  });

  test("are reported as in both queues if they were sent and cannot be deleted", async () => {
    const { letters } = open({ SendMessage: sent });

    expect(await letters.sendBack(letter)).toEqual({ kind: "in-both", why: "AccessDenied" });
  });

  test("of events return to the queue of intake, which has no groups", async () => {
    const requests = { queue: "requests", queueUrl: `${QUEUES}/requests` } as const;
    const { aws, letters } = open({ SendMessage: sent, DeleteMessage: done }, requests);

    const event: HeldDeadLetter = { ...letter, queue: "requests", groupId: undefined };
    expect(await letters.sendBack(event)).toEqual({ kind: "sent-back" });

    expect(aws.requests[0]).toEqual({
      operation: "SendMessage",
      body: { QueueUrl: `${QUEUES}/requests`, MessageBody: "{}" },
    });
  });

  test("that a rule could not deliver are held with the text that the rule would have sent", async () => {
    const Attributes = { SentTimestamp: "1", ApproximateReceiveCount: "1" };
    const MessageAttributes = {
      RULE_ARN: { DataType: "String", StringValue: "arn:aws:events:r:1:rule/b/s-reaction-paid" },
    };
    const message = { MessageId: "m1", ReceiptHandle: "handle-1", Body: "{}", Attributes };
    const Messages = [{ ...message, MessageAttributes, MD5OfBody: md5("{}") }];
    const { aws, letters } = open(
      { ReceiveMessage: { status: 200, body: { Messages } } },
      {
        queue: "requests",
        reactionRules: "s-reaction-",
      },
    );

    expect(await letters.hold()).toMatchObject([
      { queue: "requests", body: '{"reaction":"paid","event":{}}', groupId: undefined },
    ]);
    expect(aws.requests[0]?.body).toMatchObject({ MessageAttributeNames: ["RULE_ARN"] });
  });

  test("are counted together with invisible ones", async () => {
    const { letters } = open({
      GetQueueAttributes: {
        status: 200,
        body: {
          Attributes: {
            ApproximateNumberOfMessages: "3",
            ApproximateNumberOfMessagesNotVisible: "2",
          },
        },
      },
    });

    expect(await letters.count()).toBe(5);
  });
});
