import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { stageDeadLetterDesk } from "../../../lib/cli/stage-dead-letter-desk.ts";
import { createSystemClock } from "../../../lib/system/system-clock.ts";
import { createSystemRandom } from "../../../lib/system/system-random.ts";
import { sendCommand, successOf } from "../../scenarios/asking.ts";
import { awsEnvironment } from "../aws-clients.ts";
import type { DeployedStage } from "../deployed-stage.ts";

const POLICY = { project_id: 1234567, region_id: 76, policy_id: 1 };
const LIMIT_MS = 100_000;

const attributesOf = async ({ stack }: DeployedStage, queue: string) => {
  const { sqs } = stack.aws;
  const QueueName = stack.nameOf(queue);
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }),
  );
  return { QueueUrl, ...Attributes };
};

/** Ten receives would take half an hour; and nothing here is worked on for longer than a second. */
const receiveEverySecond = async (stage: DeployedStage): Promise<void> => {
  const { sqs } = stage.stack.aws;
  const { QueueUrl, VisibilityTimeout = "" } = await attributesOf(stage, "commands.fifo");
  const visibleAfter = (seconds: string) =>
    sqs.send(
      new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout: seconds } }),
    );
  await visibleAfter("1");
  onTestFinished(async () => {
    await visibleAfter(VisibilityTimeout);
  });
};

/**
 * Puts a record there that nobody can read, as a newer version might leave one that was rolled back.
 * @returns what takes it away
 */
const breakRecord = async ({ stack, ownSender }: DeployedStage, commandId: string) => {
  const { dynamoDb } = stack.aws;
  const TableName = stack.nameOf("ledger");
  const pk = { S: `command#${ownSender}/${commandId}` };
  const Item = { pk, version: { N: "1" }, value: { S: "{" } };
  await dynamoDb.send(new PutItemCommand({ TableName, Item }));
  return () => dynamoDb.send(new DeleteItemCommand({ TableName, Key: { pk } }));
};

/** What `skyhook dead-letters --stage` does, in this process. */
const openDesk = ({ stack }: DeployedStage) => {
  for (const [name, value] of Object.entries(awsEnvironment(inject("awsEndpoint")))) {
    vi.stubEnv(name, value);
  }
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  return stageDeadLetterDesk({
    stage: stack.name.replace("skyhook-", ""),
    accounts: undefined,
    clock: createSystemClock(),
    random: createSystemRandom(),
  });
};

/** A message that cannot be handled, among others that can, and its way back. */
export const testDeadLetters = (stageOf: () => DeployedStage): void => {
  describe("a message that cannot be handled", () => {
    test("ends as a dead letter that is explained, holds up no other, and runs when it is sent back", async () => {
      const stage = stageOf();
      await receiveEverySecond(stage);
      const mendRecord = await breakRecord(stage, "unreadable");

      await sendCommand(stage, "unreadable", {
        operation: "update-policy",
        params: POLICY,
        body: { name: "as-unreadable" },
      });
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
      await successOf(stage, "beside");
      const deadLetters = () => attributesOf(stage, "commands-dead-letter.fifo");
      await expect
        .poll(async () => (await deadLetters()).ApproximateNumberOfMessages, { timeout: LIMIT_MS })
        .toBe("1");
      const desk = openDesk(stage);
      expect(await desk.list()).toMatchObject({
        deadLetters: [{ kind: "request", commandId: "unreadable", advice: "mend" }],
        more: 0,
      });
      expect(await desk.redrive({ kind: "all" })).toMatchObject([{ outcome: "kept" }]);
      await mendRecord();
      expect(await desk.redrive({ kind: "all" })).toMatchObject([{ outcome: "sent-back" }]);

      expect((await successOf(stage, "unreadable")).detail.data).toMatchObject({ attempts: 1 });
    });
  });
};
