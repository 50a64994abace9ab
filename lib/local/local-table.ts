import type { Clock } from "../ports/clock.ts";
import { eraseTracesIn } from "./erase-traces.ts";
import { rebuildTable } from "./table-rebuild.ts";
import { createLedgerTable, startTableServer, type TableServer } from "./table-server.ts";

export interface LocalTableOptions {
  readonly tableName: string;
  /** Where the table is kept, one process at a time; absent: in memory. */
  readonly directory?: string | undefined;
  readonly clock: Clock;
}

/**
 * The ledger's table on this machine, speaking DynamoDB's protocol on a free port of 127.0.0.1.
 * On disk every acknowledged write outlives a kill -9, and the due index agrees with the items
 * again from the next start on; items that had expired by then are gone. So is every trace of what was
 * replaced, as it is after a close.
 */
export const openLocalTable = async (options: LocalTableOptions): Promise<TableServer> => {
  const { tableName, directory, clock } = options;
  if (directory !== undefined) {
    const table = await rebuildTable({ directory, tableName, clock });
    const server = await startTableServer(table);
    return {
      ...server,
      async close() {
        await server.close();
        await eraseTracesIn(table);
      },
    };
  }
  const server = await startTableServer(undefined);
  await createLedgerTable(server, tableName);
  return server;
};
