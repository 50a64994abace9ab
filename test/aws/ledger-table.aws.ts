import { randomUUID } from "node:crypto";
import {
  CreateChangeSetCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackImportComplete,
} from "@aws-sdk/client-cloudformation";
import {
  CreateBackupCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  GetItemCommand,
  PutItemCommand,
  RestoreTableFromBackupCommand,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createClosing } from "../../lib/local/closing.ts";
import { EXPIRY_ATTRIBUTE, LEDGER_TABLE } from "../../lib/platform/aws/dynamodb-ledger.ts";
import { accountsAt } from "../system/scenarios/configs.ts";
import { type DeployedStack, deployStack } from "./deployed-stack.ts";
import { removeBucket, removeLedger } from "./kept-resources.ts";

/*
 * The procedures of docs/operate/remove-a-stage.md and docs/operate/restore-the-ledger.md. The emulator restores the
 * current content of a table, for any requested time and at once.
 */

const ITEM = { pk: { S: "command#own/before" }, version: { N: "1" } };
const WAIT = { maxWaitTime: 60, minDelay: 1, maxDelay: 1 };

const closing = createClosing();
let stack: DeployedStack;
let TableName = "";

beforeAll(async () => {
  const name = `l${randomUUID().slice(0, 8)}`;
  const files = {
    "accounts.yaml": accountsAt("https://provider.example.com", `/skyhook/${name}/api-key`),
    "reactions.yaml": "reactions: []",
  };
  // Stopped, as the procedure demands; so no request goes to that provider.
  const params = { accountsFile: "accounts.yaml", reactionsFile: "reactions.yaml", running: "no" };
  stack = await deployStack(inject("awsEndpoint"), { name, files, params }, closing);
  TableName = stack.nameOf("ledger");
  await stack.aws.dynamoDb.send(new PutItemCommand({ TableName, Item: ITEM }));
});
afterAll(async () => {
  if (stack) await removeBucket(stack.aws, await stack.physicalIdOf("ConfigBucket"));
  await closing.close();
});

const tableOf = async (name: string) =>
  (await stack.aws.dynamoDb.send(new DescribeTableCommand({ TableName: name }))).Table ?? {};

const storedItem = async () =>
  (await stack.aws.dynamoDb.send(new GetItemCommand({ TableName, Key: { pk: ITEM.pk } }))).Item;

const exists = (name: string) =>
  waitUntilTableExists({ client: stack.aws.dynamoDb, ...WAIT }, { TableName: name });

/** Creates the stack with the table alone: docs/operate/remove-a-stage.md. */
const adopt = async (): Promise<void> => {
  const { aws, name: StackName, resources } = stack;
  const ChangeSetName = "adopt-ledger";
  const template = { Resources: { LedgerTable: resources.LedgerTable } };
  await aws.cloudFormation.send(
    new CreateChangeSetCommand({
      StackName,
      ChangeSetName,
      ChangeSetType: "IMPORT",
      TemplateBody: JSON.stringify(template),
      ResourcesToImport: [
        {
          ResourceType: "AWS::DynamoDB::Table",
          LogicalResourceId: "LedgerTable",
          ResourceIdentifier: { TableName },
        },
      ],
    }),
  );
  const client = { client: aws.cloudFormation, ...WAIT };
  await waitUntilChangeSetCreateComplete(client, { StackName, ChangeSetName });
  await aws.cloudFormation.send(new ExecuteChangeSetCommand({ StackName, ChangeSetName }));
  await waitUntilStackImportComplete(client, { StackName });
};

describe("the ledger's table", () => {
  test("is protected against deletion, and outlives its stage", async () => {
    const { TableId } = await tableOf(TableName);

    await expect(stack.aws.dynamoDb.send(new DeleteTableCommand({ TableName }))).rejects.toThrow(
      /protected against deletion/,
    );
    await removeBucket(stack.aws, await stack.physicalIdOf("ConfigBucket"));
    await stack.osls("remove");

    expect(await tableOf(TableName)).toMatchObject({ TableId, DeletionProtectionEnabled: true });
  });

  test("is adopted by an import, and keeps its items in the deployment after it", async () => {
    const { TableId } = await tableOf(TableName);

    await adopt();
    await stack.deploy({});

    expect(await tableOf(TableName)).toMatchObject({ TableId, DeletionProtectionEnabled: true });
    expect(await storedItem()).toEqual(ITEM);
  });

  test("is restored under its own name, with the settings that a restore leaves out", async () => {
    const { dynamoDb } = stack.aws;
    const restored = `${TableName}-restored`;
    const before = await tableOf(TableName);

    await dynamoDb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: TableName,
        TargetTableName: restored,
        UseLatestRestorableTime: true,
      }),
    );
    await exists(restored);
    const { BackupDetails } = await dynamoDb.send(
      new CreateBackupCommand({ TableName: restored, BackupName: "restored" }),
    );
    await removeLedger(stack.aws, TableName);
    await waitUntilTableNotExists({ client: dynamoDb, ...WAIT }, { TableName });
    await dynamoDb.send(
      new RestoreTableFromBackupCommand({
        BackupArn: BackupDetails?.BackupArn,
        TargetTableName: TableName,
      }),
    );
    await exists(TableName);
    const bare = await tableOf(TableName);
    await dynamoDb.send(
      new UpdateTimeToLiveCommand({
        TableName,
        TimeToLiveSpecification: { AttributeName: EXPIRY_ATTRIBUTE, Enabled: true },
      }),
    );
    await dynamoDb.send(
      new UpdateContinuousBackupsCommand({
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    );
    await dynamoDb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
    await dynamoDb.send(new DeleteTableCommand({ TableName: restored }));

    expect(bare.DeletionProtectionEnabled).toBe(false);
    const after = await tableOf(TableName);
    expect(after).toMatchObject({
      TableArn: before.TableArn,
      KeySchema: LEDGER_TABLE.KeySchema,
      DeletionProtectionEnabled: true,
    });
    expect(after.TableId).not.toBe(before.TableId);
    const indexesOf = ({ GlobalSecondaryIndexes: indexes = [] }: typeof LEDGER_TABLE) =>
      indexes.map(({ IndexName }) => IndexName);
    const restoredIndexes = after.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName);
    expect(restoredIndexes?.toSorted()).toEqual(indexesOf(LEDGER_TABLE).toSorted());
    expect(await storedItem()).toEqual(ITEM);
    const ttl = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(ttl.TimeToLiveDescription?.TimeToLiveStatus).toBe("ENABLED");
    const backups = await dynamoDb.send(new DescribeContinuousBackupsCommand({ TableName }));
    expect(
      backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription
        ?.PointInTimeRecoveryStatus,
    ).toBe("ENABLED");
  });
});
