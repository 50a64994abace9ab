import { once } from "node:events";
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { LEDGER_TABLE } from "../../lib/platform/aws/dynamodb-ledger.ts";

/** A DynamoDB server in this process: dynalite, the test double for the DynamoDB adapter. */
export interface TableServer {
  /** Options for any number of DynamoDB clients. Destroy each client before you close the server. */
  readonly clientConfig: DynamoDBClientConfig;
  /** Environment of a program that shall use this server. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const startTableServer = async (path: string | undefined): Promise<TableServer> => {
  const server = dynalite({ createTableMs: 0, ...(path === undefined ? {} : { path }) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("the table server has no port");
  }
  const endpoint = `http://127.0.0.1:${address.port}`;
  const region = "us-east-1";
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return {
    clientConfig: { endpoint, region, credentials },
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    close: () =>
      new Promise((resolve, reject) => {
        // Without an error dynalite passes null, other servers undefined.
        server.close((error) => (error ? reject(error) : resolve()));
      }),
  };
};

const createLedgerTable = async (client: DynamoDBClient, tableName: string): Promise<void> => {
  await client.send(new CreateTableCommand({ ...LEDGER_TABLE, TableName: tableName }));
  const describe = new DescribeTableCommand({ TableName: tableName });
  // Dynalite needs a few timer ticks, less than a request takes.
  for (let request = 1; request <= 100; request += 1) {
    const { Table } = await client.send(describe);
    if (Table?.TableStatus === "ACTIVE") return;
  }
  throw new Error(`table ${tableName} is still not active`);
};

/**
 * Starts a server with the ledger's table.
 * @param path folder of its data; default: in memory
 */
export const openTableServer = async (tableName: string, path?: string): Promise<TableServer> => {
  const server = await startTableServer(path);
  const client = new DynamoDBClient(server.clientConfig);
  await createLedgerTable(client, tableName);
  client.destroy();
  return server;
};
