import { createHash } from "node:crypto";
import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { createSqsCommandQueue, createSqsWaker } from "../../../lib/platform/aws/sqs-queues.ts";
import { createStubAws, type StubReply } from "../../support/stub-aws.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const queueUrl = "https://sqs.eu-central-1.amazonaws.com/111122223333/commands.fifo";

const accepted = (body: string): StubReply => ({
  status: 200,
  body: {
    MessageId: "b5a1b4c2-0000-4000-8000-000000000001",
    MD5OfMessageBody: createHash("md5").update(body).digest("hex"),
  },
});
const denied: StubReply = {
  status: 403,
  body: { __type: "com.amazonaws.sqs#AccessDenied", message: "not you" },
};

describe("the command queue on SQS", () => {
  test("sends one message with its group and its deduplication id", async () => {
    const aws = createStubAws(() => accepted('{"operation":"resume-instance"}'));
    const queue = createSqsCommandQueue({ client: new SQSClient(aws.clientConfig), queueUrl });

    await queue.send({
      body: '{"operation":"resume-instance"}',
      groupId: "instance/7",
      deduplicationId: "event-1",
    });

    expect(aws.requests).toEqual([
      {
        operation: "SendMessage",
        body: {
          QueueUrl: queueUrl,
          MessageBody: '{"operation":"resume-instance"}',
          MessageGroupId: "instance/7",
          MessageDeduplicationId: "event-1",
        },
      },
    ]);
  });

  test("rejects when SQS refuses the message", async () => {
    const aws = createStubAws(() => denied);
    const queue = createSqsCommandQueue({ client: new SQSClient(aws.clientConfig), queueUrl });

    await expect(
      queue.send({ body: "{}", groupId: "g", deduplicationId: "d" }),
    ).rejects.toMatchObject({ name: "AccessDenied" });

    expect(aws.requests).toHaveLength(1);
  });
});

describe("the waker on SQS", () => {
  test.each([
    { case: "an instant that has passed", inMs: -5000, delaySeconds: 0 },
    { case: "now", inMs: 0, delaySeconds: 0 },
    { case: "less than a second away, rounded up", inMs: 1, delaySeconds: 1 },
    { case: "a whole number of seconds away", inMs: 10_000, delaySeconds: 10 },
    { case: "the longest delay away", inMs: 900_000, delaySeconds: 900 },
    { case: "further away than SQS can delay", inMs: 3_600_000, delaySeconds: 900 },
  ])("asks SQS for the delay to $case", async ({ inMs, delaySeconds }) => {
    const aws = createStubAws(() => accepted("3"));
    const clock = createVirtualClock();
    const waker = createSqsWaker({ client: new SQSClient(aws.clientConfig), queueUrl, clock });

    await waker.wakeAt(clock.now() + inMs, 3);

    expect(aws.requests).toEqual([
      {
        operation: "SendMessage",
        body: { QueueUrl: queueUrl, MessageBody: "3", DelaySeconds: delaySeconds },
      },
    ]);
  });
});
