import { randomUUID } from "node:crypto";
import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { inject } from "vitest";
import * as z from "zod";
import { createSqsCommandQueue } from "../../../lib/platform/aws/sqs-queues.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { describeCommandQueueContract } from "../../contract/ports/queue-contract.ts";
import { AWS_ACCOUNT, createAwsClients, REGION } from "../aws-clients.ts";
import { refusingWrongMessages } from "../emulator-defects.ts";

const client = refusingWrongMessages(createAwsClients(inject("awsEndpoint")).sqs);

const receivedSchema = z
  .object({
    MessageId: z.string(),
    ReceiptHandle: z.string(),
    Body: z.string(),
    Attributes: z.object({
      ApproximateReceiveCount: z.string(),
      SentTimestamp: z.string(),
      SenderId: z.string(),
      ApproximateFirstReceiveTimestamp: z.string(),
      SequenceNumber: z.string(),
      MessageDeduplicationId: z.string(),
      MessageGroupId: z.string(),
    }),
  })
  .transform(({ MessageId, ReceiptHandle, Body, Attributes }) => ({
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes,
  }));

/** Queues like those of infra/queues.cjs, with fewer receives. */
const createQueue = async (name: string, attributes: Readonly<Record<string, string>>) => {
  const { QueueUrl } = await client.send(
    new CreateQueueCommand({
      QueueName: `${name}.fifo`,
      Attributes: { FifoQueue: "true", SqsManagedSseEnabled: "true", ...attributes },
    }),
  );
  return String(QueueUrl);
};

const receiveFrom = async (QueueUrl: string, MaxNumberOfMessages: number) => {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages,
      MessageSystemAttributeNames: ["All"],
    }),
  );
  return Messages.map((message) => receivedSchema.parse(message));
};

describeCommandQueueContract("SQS FIFO, on an emulator", async () => {
  const name = `skyhook-test-${randomUUID()}`;
  const deadLetterUrl = await createQueue(`${name}-dead-letter`, {});
  const deadLetterTargetArn = `arn:aws:sqs:${REGION}:${AWS_ACCOUNT}:${name}-dead-letter.fifo`;
  const QueueUrl = await createQueue(name, {
    ContentBasedDeduplication: "false",
    VisibilityTimeout: String(deployment.queues.commands.visibilitySeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 }),
  });
  return {
    queue: createSqsCommandQueue({ client, queueUrl: QueueUrl }),
    receive: (maxMessages) => receiveFrom(QueueUrl, maxMessages),
    async acknowledge(messages) {
      for (const { receiptHandle: ReceiptHandle } of messages) {
        await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      }
    },
    async giveBack(messages) {
      for (const { receiptHandle: ReceiptHandle } of messages) {
        await client.send(
          new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
        );
      }
    },
    deadLetters: async () =>
      (await receiveFrom(deadLetterUrl, 10)).map(({ body, attributes }) => ({
        body,
        groupId: attributes.MessageGroupId,
        deduplicationId: attributes.MessageDeduplicationId,
      })),
    isRefusal: (error) => error instanceof SQSServiceException && error.$fault === "client",
    async remove() {
      await client.send(new DeleteQueueCommand({ QueueUrl }));
      await client.send(new DeleteQueueCommand({ QueueUrl: deadLetterUrl }));
    },
  };
});
