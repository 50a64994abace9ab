import { randomUUID } from "node:crypto";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
} from "@aws-sdk/client-sqs";
import { inject } from "vitest";
import { createSqsDeadLetters } from "../../../lib/platform/aws/sqs-dead-letters.ts";
import { createSqsCommandQueue } from "../../../lib/platform/aws/sqs-queues.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { createSystemRandom } from "../../../lib/platform/system.ts";
import { describeDeadLettersContract } from "../../contract/ports/dead-letters-contract.ts";
import { createAwsClients } from "../aws-clients.ts";
import { refusingWrongMessages } from "../emulator-defects.ts";

const client = refusingWrongMessages(createAwsClients(inject("awsEndpoint")).sqs);

const createQueue = async (name: string) => {
  const { QueueUrl = "" } = await client.send(
    new CreateQueueCommand({
      QueueName: `${name}.fifo`,
      Attributes: {
        FifoQueue: "true",
        VisibilityTimeout: String(deployment.queues.commands.visibilitySeconds),
      },
    }),
  );
  return QueueUrl;
};

const receiveFrom = async (QueueUrl: string) => {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["MessageGroupId"],
    }),
  );
  return Messages;
};

describeDeadLettersContract("SQS FIFO, on an emulator", async () => {
  const name = `skyhook-test-${randomUUID()}`;
  const commandQueueUrl = await createQueue(name);
  const deadLetterUrl = await createQueue(`${name}-dead-letter`);
  const queues = { deadLetterUrl, queue: "commands", queueUrl: commandQueueUrl } as const;
  return {
    deadLetters: createSqsDeadLetters({ client, random: createSystemRandom(), ...queues }),
    // The contract of the command queue tests that SQS moves a message there after its receives.
    async bury(body, groupId) {
      const deduplicationId = randomUUID();
      for (const queueUrl of [commandQueueUrl, deadLetterUrl]) {
        await createSqsCommandQueue({ client, queueUrl }).send({ body, groupId, deduplicationId });
      }
      for (const { ReceiptHandle } of await receiveFrom(commandQueueUrl)) {
        await client.send(new DeleteMessageCommand({ QueueUrl: commandQueueUrl, ReceiptHandle }));
      }
    },
    received: async () =>
      (await receiveFrom(commandQueueUrl)).map(({ Body = "", Attributes = {} }) => ({
        body: Body,
        groupId: Attributes.MessageGroupId ?? "",
      })),
    async remove() {
      await client.send(new DeleteQueueCommand({ QueueUrl: commandQueueUrl }));
      await client.send(new DeleteQueueCommand({ QueueUrl: deadLetterUrl }));
    },
  };
});
