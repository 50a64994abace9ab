import { randomUUID } from "node:crypto";
import { DeleteItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetRolePolicyCommand, PutRolePolicyCommand } from "@aws-sdk/client-iam";
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
} from "@aws-sdk/client-sqs";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { stageDeadLetters } from "../../../lib/cli/admin/stage-dead-letters.ts";
import { openStageLedger } from "../../../lib/cli/admin/stage-ledger.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { sendCommand, successOf } from "../../system/scenarios/stage.ts";
import { awsEnvironment, REGION } from "../aws-clients.ts";
import type { DeployedStage } from "../deployed-stage.ts";
import { policySchema } from "./permissions.ts";

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

/** A short visibility timeout: ten receives would take half an hour, and each run here takes under a second. */
const receiveEverySecond = async (stage: DeployedStage, queue: string): Promise<void> => {
  const { sqs } = stage.stack.aws;
  const { QueueUrl, VisibilityTimeout = "" } = await attributesOf(stage, queue);
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
 * Writes an unreadable record, like one that a newer version left before a rollback.
 * @returns a function that deletes it
 */
const breakRecord = async ({ stack, ownSender }: DeployedStage, commandId: string) => {
  const { dynamoDb } = stack.aws;
  const TableName = stack.nameOf("ledger");
  const pk = { S: `command#${ownSender}/${commandId}` };
  const Item = { pk, version: { N: "1" }, value: { S: "{" } };
  await dynamoDb.send(new PutItemCommand({ TableName, Item }));
  return () => dynamoDb.send(new DeleteItemCommand({ TableName, Key: { pk } }));
};

const requestOf = (commandId: string) => ({
  source: "billing",
  detailType: "CommandRequested",
  detail: {
    metadata: { commandId },
    data: { operation: "update-policy", params: POLICY, body: { name: commandId } },
  },
});

/** The event as a rule sends it to the queue. */
const eventOf = (
  { ownSender }: DeployedStage,
  { source, detailType, detail }: ReturnType<typeof requestOf>,
) => ({
  version: "0",
  id: randomUUID(),
  account: ownSender,
  source,
  "detail-type": detailType,
  time: new Date(Date.now()).toISOString(),
  region: REGION,
  resources: [],
  detail,
});

/** Removes a permission that intake needs for every event. @returns a function that restores it */
const takeRightsFromIntake = async (stage: DeployedStage) => {
  const { iam } = stage.stack.aws;
  const RoleName = await stage.stack.physicalIdOf("IntakeRole");
  const policy = { RoleName, PolicyName: "function" };
  const { PolicyDocument = "" } = await iam.send(new GetRolePolicyCommand(policy));
  const document = policySchema.parse(JSON.parse(decodeURIComponent(PolicyDocument)));
  const commandQueue = stage.stack.nameOf("commands.fifo");
  const Statement = document.Statement.filter(
    (statement) => !JSON.stringify(statement).includes(commandQueue),
  );
  const allow = async (allowed: unknown) => {
    const PolicyDocument = JSON.stringify(allowed);
    await iam.send(new PutRolePolicyCommand({ ...policy, PolicyDocument }));
  };
  const giveBack = () => allow(document);
  onTestFinished(giveBack);
  await allow({ ...document, Statement });
  return giveBack;
};

/** Runs `skyhook dead-letters --stage` in this process. */
const openDeadLetters = ({ stack }: DeployedStage) => {
  for (const [name, value] of Object.entries(awsEnvironment(inject("awsEndpoint")))) {
    vi.stubEnv(name, value);
  }
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const stage = stack.name.replace("skyhook-", "");
  const ledger = openStageLedger(stage, createSystemClock());
  return stageDeadLetters(ledger, { stage, accounts: undefined, random: createSystemRandom() });
};

/** Tests a message that cannot be handled, and its redrive, among messages that can. */
export const testDeadLetters = (stageOf: () => DeployedStage): void => {
  describe("a message that cannot be handled", () => {
    test("becomes a dead letter with an explanation, delays no other, and runs after its redrive", async () => {
      const stage = stageOf();
      await receiveEverySecond(stage, "commands.fifo");
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
      const client = openDeadLetters(stage);
      expect(await client.list()).toMatchObject({
        deadLetters: [{ kind: "request", commandId: "unreadable", advice: "mend" }],
        more: 0,
      });
      expect(await client.redrive({ kind: "all" })).toMatchObject([{ outcome: "kept" }]);
      await mendRecord();
      expect(await client.redrive({ kind: "all" })).toMatchObject([{ outcome: "sent-back" }]);

      expect((await successOf(stage, "unreadable")).detail.data).toMatchObject({ attempts: 1 });
    });

    test("is an event that intake fails to process ten times, or one from before its queue; both run after a redrive", async () => {
      const stage = stageOf();
      const { sqs } = stage.stack.aws;
      await receiveEverySecond(stage, "requests");
      const mendRole = await takeRightsFromIntake(stage);

      await stage.putFrom(stage.ownSender, requestOf("failed-in-intake"));
      await expect
        .poll(
          async () =>
            (await attributesOf(stage, "requests-dead-letter")).ApproximateNumberOfMessages,
          { timeout: LIMIT_MS },
        )
        .toBe("1");
      const { QueueUrl } = await attributesOf(stage, "intake-dead-letter");
      const requestPayload = eventOf(stage, requestOf("failed-before-the-queue"));
      const record = { requestContext: { functionArn: "arn" }, requestPayload };
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(record) }));

      const client = openDeadLetters(stage);
      const { deadLetters } = await client.list();
      expect(deadLetters.map(({ commandId, advice }) => [commandId, advice]).toSorted()).toEqual([
        ["failed-before-the-queue", "redrive"],
        ["failed-in-intake", "redrive"],
      ]);
      await mendRole();
      // Not --all: an invocation of intake that was in progress may have succeeded, so its dead letter is done.
      const ids = deadLetters.map(({ messageId }) => messageId);
      expect(await client.redrive({ kind: "ids", ids })).toMatchObject([
        { outcome: "sent-back" },
        { outcome: "sent-back" },
      ]);

      await successOf(stage, "failed-in-intake");
      await successOf(stage, "failed-before-the-queue");
    });
  });
};
