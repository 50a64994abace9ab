import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, test } from "vitest";
import { sendCommand } from "../../scenarios/asking.ts";
import type { DeployedStage } from "../deployed-stage.ts";
import { moveMessages } from "../emulator-defects.ts";

const POLICY = { project_id: 1234567, region_id: 76, policy_id: 1 };
const LIMIT_MS = 90_000;

const attributesOf = async ({ stack }: DeployedStage, queue: string) => {
  const { sqs } = stack.aws;
  const QueueName = stack.nameOf(queue);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  return { QueueUrl, Attributes };
};

/** A message that cannot be handled, among others that can, and its way back. */
export const testDeadLetters = (stageOf: () => DeployedStage): void => {
  describe("a message that cannot be handled", () => {
    test("ends as a dead letter, holds up no other, and runs when it is sent back", async () => {
      const stage = stageOf();
      const { aws, nameOf } = stage.stack;
      const TableName = nameOf("ledger");
      const { QueueUrl, Attributes } = await attributesOf(stage, "commands.fifo");
      const { VisibilityTimeout = "" } = Attributes;
      const visibleAfter = (seconds: string) =>
        aws.sqs.send(
          new SetQueueAttributesCommand({
            QueueUrl,
            Attributes: { VisibilityTimeout: seconds },
          }),
        );
      // Ten receives would take half an hour; and nothing of this lasts longer than a second.
      await visibleAfter("1");
      // As a newer version might leave it that was rolled back: nobody can read it.
      const pk = { S: `command#${stage.ownSender}/unreadable` };
      const Item = { pk, version: { N: "1" }, value: { S: "{" } };
      await aws.dynamoDb.send(new PutItemCommand({ TableName, Item }));
      const command = (name: string) =>
        sendCommand(stage, name, {
          operation: "update-policy",
          params: POLICY,
          body: { name: `as-${name}` },
        });
      const endOf = (name: string) =>
        stage.events.first(
          `the end of ${name}`,
          ({ "detail-type": type, detail }) =>
            type === "CommandSucceeded" && detail.metadata.commandId === name,
        );

      await command("unreadable");
      await sendCommand(stage, "beside", {
        operation: "update-storage-event",
        params: {},
        body: {
          name: "reaching_used_space",
          storage_name: "my-storage-prod",
          bucket_name: "my-bucket",
          bytes: "1",
        },
      });
      await endOf("beside");
      await expect
        .poll(
          async () =>
            (await attributesOf(stage, "commands-dead-letter.fifo")).Attributes
              .ApproximateNumberOfMessages,
          { timeout: LIMIT_MS, interval: 500 },
        )
        .toBe("1");
      await visibleAfter(VisibilityTimeout);
      await aws.dynamoDb.send(new DeleteItemCommand({ TableName, Key: { pk } }));
      const deadLetter = await attributesOf(stage, "commands-dead-letter.fifo");
      expect(await moveMessages(aws, deadLetter.QueueUrl, QueueUrl)).toBe(1);

      expect((await endOf("unreadable")).detail.data).toMatchObject({ attempts: 1 });
    });
  });
};
