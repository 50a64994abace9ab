import { inspect } from "node:util";
import { deflateRawSync } from "node:zlib";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import * as z from "zod";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { UnreadableItemError } from "../../../lib/platform/ports/ledger.ts";
import { createStubAws, inTurn, type StubReply } from "../../support/stub-aws.ts";

const open = (...replies: Parameters<typeof inTurn>) => {
  const aws = createStubAws(inTurn(...replies));
  const client = new DynamoDBClient(aws.clientConfig);
  return { aws, ledger: createDynamodbLedger({ client, tableName: "ledger" }) };
};

const written: StubReply = { status: 200, body: {} };
const conditionFailed: StubReply = {
  status: 400,
  body: {
    __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
    message: "The conditional request failed",
  },
};
const serverError: StubReply = {
  status: 500,
  body: { __type: "com.amazonaws.dynamodb.v20120810#InternalServerError", message: "sorry" },
};

test("a first version is put on the condition that the key is free", async () => {
  const { aws, ledger } = open(written);

  await ledger.write({
    key: "task#1",
    version: 1,
    dueAt: 1500,
    expiresAt: 90_001,
    value: { looks: 0 },
  });

  expect(aws.requests).toEqual([
    {
      operation: "PutItem",
      body: {
        TableName: "ledger",
        Item: {
          pk: { S: "task#1" },
          version: { N: "1" },
          value: { S: '{"looks":0}' },
          due: { S: "due" },
          dueAt: { N: "1500" },
          expiresAt: { N: "91" },
        },
        ConditionExpression: "attribute_not_exists(pk)",
      },
    },
  ]);
});

test("an item without a due time has no attribute of the due index", async () => {
  const { aws, ledger } = open(written);

  await ledger.write({ key: "task#1", version: 4, value: {} });

  expect(aws.requests).toEqual([
    {
      operation: "PutItem",
      body: {
        TableName: "ledger",
        Item: { pk: { S: "task#1" }, version: { N: "4" }, value: { S: "{}" } },
        ConditionExpression: "#version = :previous",
        ExpressionAttributeNames: { "#version": "version" },
        ExpressionAttributeValues: { ":previous": { N: "3" } },
      },
    },
  ]);
});

test("a read is strongly consistent", async () => {
  const { aws, ledger } = open({ status: 200, body: {} });

  expect(await ledger.read("task#1")).toBeUndefined();

  expect(aws.requests).toEqual([
    {
      operation: "GetItem",
      body: { TableName: "ledger", Key: { pk: { S: "task#1" } }, ConsistentRead: true },
    },
  ]);
});

const due = (key: string, dueAt: number) => ({
  pk: { S: key },
  due: { S: "due" },
  dueAt: { N: String(dueAt) },
});

const query = (limit: number, from?: object) => ({
  operation: "Query",
  body: {
    TableName: "ledger",
    IndexName: "due",
    KeyConditionExpression: "due = :due AND dueAt BETWEEN :from AND :until",
    ExpressionAttributeValues: {
      ":due": { S: "due" },
      ":from": { N: String(Number.MIN_SAFE_INTEGER) },
      ":until": { N: "1000" },
    },
    Limit: limit,
    ...(from && { ExclusiveStartKey: from }),
  },
});

test("listing the due items of a shard is one query", async () => {
  const { aws, ledger } = open({ status: 200, body: { Items: [due("task#1", 7)] } });

  expect(await ledger.listDue(1000, 25, 0)).toEqual([{ key: "task#1", dueAt: 7 }]);

  expect(aws.requests).toEqual([query(25)]);
});

test("listing all due items is one query of each shard", async () => {
  const { aws, ledger } = open(
    { status: 200, body: { Items: [due("task#1", 7), due("task#2", 9)] } },
    { status: 200, body: { Items: [due("task#3", 8)] } },
    ...Array.from({ length: 14 }, () => ({ status: 200, body: { Items: [] } })),
  );

  const keys = (await ledger.listDue(1000, 2)).map(({ key }) => key);

  expect(keys).toEqual(["task#1", "task#3"]);
  const asked = z.object({
    ExpressionAttributeValues: z.object({ ":due": z.object({ S: z.string() }) }),
  });
  const shards = aws.requests.map(
    ({ body }) => asked.parse(body).ExpressionAttributeValues[":due"].S,
  );
  expect(shards).toEqual(["due", ...Array.from({ length: 15 }, (_, index) => `due#${index + 1}`)]);
});

test("listing due items continues after a page that ends before the limit", async () => {
  const { aws, ledger } = open(
    { status: 200, body: { Items: [due("task#1", 7)], LastEvaluatedKey: due("task#1", 7) } },
    { status: 200, body: { Items: [], LastEvaluatedKey: due("task#2", 8) } },
    { status: 200, body: { Items: [due("task#3", 9)], LastEvaluatedKey: due("task#3", 9) } },
  );

  expect(await ledger.listDue(1000, 2, 0)).toEqual([
    { key: "task#1", dueAt: 7 },
    { key: "task#3", dueAt: 9 },
  ]);

  expect(aws.requests).toEqual([query(2), query(1, due("task#1", 7)), query(1, due("task#2", 8))]);
});

test("a failed condition on the first attempt is a conflict", async () => {
  const { aws, ledger } = open(conditionFailed);

  expect(await ledger.write({ key: "task#1", version: 2, value: {} })).toBe("conflict");

  expect(aws.requests).toHaveLength(1);
});

test("a failed condition after a retry of the SDK is an unknown outcome, not a conflict", async () => {
  const { aws, ledger } = open(serverError, conditionFailed);

  await expect(ledger.write({ key: "task#1", version: 2, value: {} })).rejects.toThrow(
    "unknown whether version 2 of ledger item task#1 was written",
  );

  expect(aws.requests).toHaveLength(2);
});

test("a write without a response rejects", async () => {
  const { ledger } = open(serverError);

  await expect(ledger.write({ key: "task#1", version: 2, value: {} })).rejects.toMatchObject({
    name: "InternalServerError",
  });
});

test.each([
  ["text", { S: '{"pull_secret": hush}' }],
  ["compressed text", { B: deflateRawSync('{"pull_secret": hush}').toString("base64") }],
  ["bytes that are not compressed", { B: Buffer.from("pull_secret").toString("base64") }],
])(
  "the error of an item that is not JSON (%s) has its key and none of its content",
  async (_, value) => {
    const Item = { pk: { S: "command#own/c1" }, version: { N: "1" }, value };
    const { ledger } = open({ status: 200, body: { Item } });

    const error = await ledger.read("command#own/c1").catch((thrown: unknown) => thrown);

    expect(error).toEqual(
      new UnreadableItemError("the value of ledger item command#own/c1 is not readable JSON"),
    );
    expect(inspect(error)).not.toContain("pull_secret");
  },
);
