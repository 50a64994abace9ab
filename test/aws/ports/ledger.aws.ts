import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  DeleteTableCommand,
  GetItemCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { expect, inject, onTestFinished, test } from "vitest";
import {
  createDynamodbLedger,
  EXPIRY_ATTRIBUTE,
  LEDGER_TABLE,
} from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { createDynamodbUnlistedItems } from "../../../lib/platform/aws/dynamodb-unlisted-items.ts";
import { describeLedgerContract } from "../../contract/ports/ledger-contract.ts";
import { describeUnlistedItemsContract } from "../../contract/ports/unlisted-items-contract.ts";
import { incompressible } from "../../support/incompressible.ts";
import { createAwsClients } from "../aws-clients.ts";

const { dynamoDb: client } = createAwsClients(inject("awsEndpoint"));

const openTable = async () => {
  const TableName = `skyhook-test-${randomUUID()}`;
  await client.send(new CreateTableCommand({ ...LEDGER_TABLE, TableName }));
  await waitUntilTableExists({ client, maxWaitTime: 30 }, { TableName });
  const TimeToLiveSpecification = { AttributeName: EXPIRY_ATTRIBUTE, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  return {
    TableName,
    ledger: createDynamodbLedger({ client, tableName: TableName }),
    unlisted: createDynamodbUnlistedItems({ client, tableName: TableName }),
    close: async () => {
      await client.send(new DeleteTableCommand({ TableName }));
    },
  };
};

describeLedgerContract("DynamoDB, on an emulator", openTable);
describeUnlistedItemsContract("DynamoDB, on an emulator", openTable);

test("DynamoDB counts an item's size as it is stored, compressed", async () => {
  const { ledger, close } = await openTable();
  onTestFinished(close);
  const long = { text: "€".repeat(140_000) };
  const large = { text: incompressible(410_000) };

  expect(await ledger.write({ key: "command#1", version: 1, value: long })).toBe("written");
  expect((await ledger.read("command#1"))?.value).toEqual(long);
  await expect(ledger.write({ key: "command#2", version: 1, value: large })).rejects.toMatchObject({
    name: "ValidationException",
    $fault: "client",
  });
});

test("an item stores its expiry in the form of DynamoDB's time to live", async () => {
  const { ledger, TableName, close } = await openTable();
  onTestFinished(close);

  await ledger.write({ key: "command#1", version: 1, expiresAt: 4_102_444_800_001, value: {} });

  const { Item } = await client.send(
    new GetItemCommand({ TableName, Key: { pk: { S: "command#1" } } }),
  );
  expect(Item?.[EXPIRY_ATTRIBUTE]).toEqual({ N: "4102444801" });
});
