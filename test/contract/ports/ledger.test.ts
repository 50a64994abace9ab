import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import { openLedgerIn } from "../../support/local-ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { openTableServer } from "../../support/table-server.ts";
import { describeLedgerContract } from "./ledger-contract.ts";

describeLedgerContract("DynamoDB, against dynalite", async () => {
  const table = await openTableServer("skyhook-ledger");
  const client = new DynamoDBClient(table.clientConfig);
  return {
    ledger: createDynamodbLedger({ client, tableName: "skyhook-ledger" }),
    close: async () => {
      client.destroy();
      await table.close();
    },
  };
});

describeLedgerContract("LevelDB in memory", () => openLedgerIn(undefined));

describeLedgerContract("LevelDB in a folder", async () => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-ledger-"));
  const opened = await openLedgerIn(directory);
  return {
    ...opened,
    close: async () => {
      await opened.close();
      await rm(directory, { recursive: true });
    },
  };
});

describeLedgerContract("memory, for simulations", async () => ({
  ledger: createMemoryLedger(),
  close: async () => undefined,
}));
