import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { EXPIRY_ATTRIBUTE } from "../aws/ledger-table.ts";
import type { Clock } from "../ports/clock.ts";
import {
  createLedgerTable,
  startTableServer,
  type TableServer,
  withClient,
} from "./table-server.ts";

/** DynamoDB takes no more items in one batch. */
const BATCH_SIZE = 25;

const GENERATION = /^table-(\d+)$/;

export interface TableRebuildOptions {
  readonly directory: string;
  readonly tableName: string;
  readonly clock: Clock;
}

type Item = Record<string, AttributeValue>;

const listGenerations = async (directory: string): Promise<readonly number[]> =>
  (await readdir(directory))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

const writeItems = async (
  client: DynamoDBClient,
  tableName: string,
  items: readonly Item[],
): Promise<void> => {
  for (let start = 0; start < items.length; start += BATCH_SIZE) {
    const batch = items.slice(start, start + BATCH_SIZE);
    const { UnprocessedItems } = await client.send(
      new BatchWriteItemCommand({
        RequestItems: { [tableName]: batch.map((item) => ({ PutRequest: { Item: item } })) },
      }),
    );
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error("items were not written");
  }
};

const copyItems = async (
  options: TableRebuildOptions,
  from: DynamoDBClient,
  to: DynamoDBClient,
): Promise<void> => {
  const { tableName, clock } = options;
  const nowSeconds = clock.now() / 1000;
  // Dynalite knows no time to live; without this the table would only ever grow.
  const isAlive = (item: Item): boolean => !(Number(item[EXPIRY_ATTRIBUTE]?.N) < nowSeconds);
  for await (const page of paginateScan({ client: from }, { TableName: tableName })) {
    await writeItems(to, tableName, (page.Items ?? []).filter(isAlive));
  }
};

/** Makes the folder's files outlive a power cut, since the older copy is about to go. */
const syncFiles = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    const file = await open(join(directory, name), "r+");
    await file.sync();
    await file.close();
  }
};

const withServer = async <T>(
  path: string,
  work: (server: TableServer) => Promise<T>,
): Promise<T> => {
  const server = await startTableServer(path);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
};

const buildEmpty = (options: TableRebuildOptions, target: string): Promise<void> =>
  withServer(target, (server) => createLedgerTable(server, options.tableName));

const buildCopy = (options: TableRebuildOptions, source: string, target: string): Promise<void> =>
  withServer(source, (sourceServer) =>
    withServer(target, async (targetServer) => {
      await createLedgerTable(targetServer, options.tableName);
      await withClient(sourceServer, (from) =>
        withClient(targetServer, (to) => copyItems(options, from, to)),
      );
    }),
  );

/**
 * Copies the table's items into a new folder, and so builds its due index anew: dynalite writes
 * index and item one after the other, and a kill between the two leaves them disagreeing.
 *
 * The current table is the folder `table-<number>` with the highest number. A new one is built
 * beside it and gets its number by one rename, so a kill at any point leaves a whole table.
 *
 * @returns the folder of the current table, with no server on it yet
 */
export const rebuildTable = async (options: TableRebuildOptions): Promise<string> => {
  const { directory } = options;
  await mkdir(directory, { recursive: true });
  const folderOf = (generation: number): string => join(directory, `table-${generation}`);
  const generations = await listGenerations(directory);
  const current = generations.at(-1);

  const building = join(directory, "building");
  await rm(building, { recursive: true, force: true });
  if (current === undefined) await buildEmpty(options, building);
  else await buildCopy(options, folderOf(current), building);
  await syncFiles(building);

  const rebuilt = folderOf((current ?? 0) + 1);
  await rename(building, rebuilt);
  for (const generation of generations) await rm(folderOf(generation), { recursive: true });
  return rebuilt;
};
