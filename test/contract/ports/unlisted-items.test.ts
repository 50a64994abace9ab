import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { createDynamodbUnlistedItems } from "../../../lib/platform/aws/dynamodb-unlisted-items.ts";
import { openTableServer } from "../../support/table-server.ts";
import { describeUnlistedItemsContract } from "./unlisted-items-contract.ts";

describeUnlistedItemsContract("DynamoDB, against dynalite", async () => {
  const table = await openTableServer("skyhook-ledger");
  const client = new DynamoDBClient(table.clientConfig);
  const options = { client, tableName: "skyhook-ledger" };
  return {
    ledger: createDynamodbLedger(options),
    unlisted: createDynamodbUnlistedItems(options),
    close: async () => {
      client.destroy();
      await table.close();
    },
  };
});
