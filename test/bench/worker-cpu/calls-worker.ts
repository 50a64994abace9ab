import {
  DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  PutItemCommand,
  type PutItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { createAwsClient } from "../../../lib/platform/aws/aws-client.ts";
import { createDynamodbCall } from "../../../lib/platform/aws/dynamodb-calls.ts";

/*
 * A process that measures the CPU time of a read and of a write of an item of 1 kB: by the SDK's client, and by the
 * ledger's calls. Sends the medians to its parent.
 */

const ROUNDS = 15;
const CALLS = 200;
/** As many as in a batch. */
const AT_ONCE = 10;

const { TABLE_NAME: TableName = "" } = process.env;
const client = createAwsClient(DynamoDBClient);
const call = createDynamodbCall({ client, tableName: TableName });

const key = { pk: { S: "command#bench" } };
const read: GetItemCommandInput = { TableName, Key: key, ConsistentRead: true };
const write: PutItemCommandInput = {
  TableName,
  Item: { ...key, version: { N: "1" }, value: { S: JSON.stringify({ text: "x".repeat(900) }) } },
};

const SUBJECTS: Readonly<Record<string, () => Promise<unknown>>> = {
  "read, SDK": () => client.send(new GetItemCommand(read)),
  "read, ledger": () => call("GetItem", read),
  "write, SDK": () => client.send(new PutItemCommand(write)),
  "write, ledger": () => call("PutItem", write),
};

const measure = async (work: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage();
  for (let done = 0; done < CALLS; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
};

await call("PutItem", write);
for (const work of Object.values(SUBJECTS)) await measure(work);
const times = new Map(Object.keys(SUBJECTS).map((name) => [name, [] as number[]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, work] of Object.entries(SUBJECTS)) times.get(name)?.push(await measure(work));
}
process.send?.(Object.fromEntries(times));
