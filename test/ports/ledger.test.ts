import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDynamodbLedger } from "../../lib/aws/dynamodb-ledger.ts";
import { openLocalTable } from "../../lib/local/local-table.ts";
import { createMemoryLedger } from "../support/memory-ledger.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";
import { describeLedgerContract } from "./ledger-contract.ts";

describeLedgerContract("DynamoDB, against dynalite", async () => {
  const table = await openLocalTable({ tableName: "skyhook-ledger", clock: createVirtualClock() });
  const client = new DynamoDBClient(table.clientConfig);
  return {
    ledger: createDynamodbLedger({ client, tableName: "skyhook-ledger" }),
    close: async () => {
      client.destroy();
      await table.close();
    },
  };
});

describeLedgerContract("memory, for simulations", async () => ({
  ledger: createMemoryLedger(),
  close: async () => undefined,
}));
