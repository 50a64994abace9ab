import { randomUUID } from "node:crypto";
import { CreateQueueCommand, DeleteQueueCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { inject } from "vitest";
import { createSqsWaker } from "../../../lib/platform/aws/sqs-queues.ts";
import { deployment } from "../../../lib/platform/deployment.ts";
import { createSystemClock } from "../../../lib/platform/system.ts";
import { describeWakerContract } from "../../contract/ports/waker-contract.ts";
import { createAwsClients } from "../aws-clients.ts";
import { refusingWrongMessages } from "../emulator-defects.ts";

const client = refusingWrongMessages(createAwsClients(inject("awsEndpoint")).sqs);

const LOOK_MS = 50;

describeWakerContract("SQS, on an emulator", async () => {
  const clock = createSystemClock();
  const { QueueUrl = "" } = await client.send(
    new CreateQueueCommand({
      QueueName: `skyhook-test-${randomUUID()}`,
      Attributes: {
        VisibilityTimeout: String(deployment.queues.wake.visibilitySeconds),
        SqsManagedSseEnabled: "true",
      },
    }),
  );
  const receive = async (): Promise<number> => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    return Messages.length;
  };
  return {
    waker: createSqsWaker({ client, queueUrl: QueueUrl, clock }),
    clock,
    async wakesUntil(at) {
      let wakes = 0;
      while (clock.now() < at) {
        wakes += await receive();
        await clock.sleep(LOOK_MS);
      }
      return wakes;
    },
    remove: async () => {
      await client.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
});
