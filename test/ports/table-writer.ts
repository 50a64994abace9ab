import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDynamodbLedger } from "../../lib/aws/dynamodb-ledger.ts";
import { openLocalTable } from "../../lib/local/local-table.ts";
import { createSystemClock } from "../../lib/system/system-clock.ts";

// To be killed: eight writers change their items for ever, and print each version that is written.
const [, , directory = ""] = process.argv;
const table = await openLocalTable({ tableName: "ledger", directory, clock: createSystemClock() });
const client = new DynamoDBClient(table.clientConfig);
const ledger = createDynamodbLedger({ client, tableName: "ledger" });

const writeForEver = async (key: string): Promise<never> => {
  for (let version = ((await ledger.read(key))?.version ?? 0) + 1; ; version += 1) {
    // Every fourth version has nothing outstanding, so index entries come, move and go.
    const due = version % 4 === 0 ? {} : { dueAt: version * 1000 };
    await ledger.write({ key, version, value: { version }, ...due });
    // Waits until the line has left this process: what waits in its memory is lost with it.
    await new Promise((resolve) => process.stdout.write(`${key} ${version}\n`, resolve));
  }
};

await Promise.all(Array.from({ length: 8 }, (_, index) => writeForEver(`task#${index}`)));
