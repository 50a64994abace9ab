import { once } from "node:events";
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { Level } from "level";
import { LEDGER_TABLE } from "../aws/ledger-table.ts";

/** A DynamoDB server in this process. */
export interface TableServer {
  /** For any number of DynamoDB clients, which whoever makes them destroys before closing. */
  readonly clientConfig: DynamoDBClientConfig;
  close(): Promise<void>;
}

/** Dynalite does not tell that it cannot open its folder: it throws later, where nobody can catch it. */
const refuseUnlessOpenable = async (path: string): Promise<void> => {
  const level = new Level(path);
  await level.open();
  await level.close();
};

/**
 * @param path LevelDB folder of the data; absent: in memory
 * @throws Error with code LEVEL_DATABASE_NOT_OPEN when the folder is damaged or another process has it open
 */
export const startTableServer = async (path: string | undefined): Promise<TableServer> => {
  if (path !== undefined) await refuseUnlessOpenable(path);
  const server = dynalite({ createTableMs: 0, ...(path === undefined ? {} : { path }) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("the table server listens on no port");
  }
  return {
    clientConfig: {
      endpoint: `http://127.0.0.1:${address.port}`,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    },
    close: () =>
      new Promise((resolve, reject) => {
        // Dynalite says null, where a plain server says undefined, when all went well.
        server.close((error) => (error ? reject(error) : resolve()));
      }),
  };
};

/** Runs the work with a client of the server, which is gone afterwards. */
export const withClient = async <T>(
  server: TableServer,
  work: (client: DynamoDBClient) => Promise<T>,
): Promise<T> => {
  // One attempt: what fails on this machine, a locked folder for instance, fails again.
  const client = new DynamoDBClient({ ...server.clientConfig, maxAttempts: 1 });
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
};

/** Creates the ledger's table; resolves when it takes items. */
export const createLedgerTable = (server: TableServer, tableName: string): Promise<void> =>
  withClient(server, async (client) => {
    await client.send(new CreateTableCommand({ ...LEDGER_TABLE, TableName: tableName }));
    const describe = new DescribeTableCommand({ TableName: tableName });
    // Dynalite takes a moment of some timer ticks, less than a question and its answer.
    for (let question = 1; question <= 100; question += 1) {
      const { Table } = await client.send(describe);
      if (Table?.TableStatus === "ACTIVE") return;
    }
    throw new Error(`table ${tableName} does not become active`);
  });
