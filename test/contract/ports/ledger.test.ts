import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { openLedgerIn } from "../../support/local-ledger.ts";
import { createMemoryLedger } from "../../support/memory-ledger.ts";
import { openTableServer } from "../../support/table-server.ts";
import { describeLedgerContract } from "./ledger-contract.ts";

type ShardOf = (key: string) => number;

const openTable = async (tableName: string) => {
  const table = await openTableServer(tableName);
  const client = new DynamoDBClient(table.clientConfig);
  return {
    /** The ledger as a function with these shards uses it. */
    ledgerWith: (shardOf?: ShardOf) => createDynamodbLedger({ client, tableName, shardOf }),
    close: async () => {
      client.destroy();
      await table.close();
    },
  };
};

describeLedgerContract("DynamoDB, against dynalite", async () => {
  const { ledgerWith, close } = await openTable("skyhook-ledger");
  return { ledger: ledgerWith(), close };
});

describe("shards of the due index", () => {
  const byLastDigit: ShardOf = (key) => Number(key.at(-1));

  it.each<readonly [name: string, open: () => Promise<{ ledgerWith: (of: ShardOf) => Ledger }>]>([
    [
      "DynamoDB",
      async () => {
        const { ledgerWith, close } = await openTable("sharded");
        onTestFinished(close);
        return { ledgerWith };
      },
    ],
    ["memory", async () => ({ ledgerWith: (of) => createMemoryLedger(of) })],
  ])("are listed one by one, or all in the order of time (%s)", async (_name, open) => {
    const ledger = (await open()).ledgerWith(byLastDigit);
    for (const [key, dueAt] of [
      ["a#0", 30],
      ["b#2", 20],
      ["c#2", 10],
      ["d#1", 40],
    ] as const)
      await ledger.write({ key, version: 1, dueAt, value: {} });
    const keysOf = async (...query: Parameters<Ledger["listDue"]>) =>
      (await ledger.listDue(...query)).map(({ key }) => key);

    await expect.poll(() => keysOf(40, 10)).toEqual(["c#2", "b#2", "a#0", "d#1"]);
    expect(await keysOf(40, 2)).toEqual(["c#2", "b#2"]);
    expect(await keysOf(40, 10, 0)).toEqual(["a#0"]);
    expect(await keysOf(40, 10, 2)).toEqual(["c#2", "b#2"]);
    expect(await keysOf(40, 10, 3)).toEqual([]);
  });

  it("get an entry from another one when a function with other shards writes the item", async () => {
    const { ledgerWith, close } = await openTable("resharded");
    onTestFinished(close);
    const [former, present] = [ledgerWith(), ledgerWith(byLastDigit)];
    const item = { key: "task#3", dueAt: 5, value: {} };
    await former.write({ ...item, version: 1 });
    await expect.poll(() => present.listDue(5, 10, 0)).toHaveLength(1);

    await present.write({ ...item, version: 2 });

    await expect.poll(() => present.listDue(5, 10, 3)).toEqual([{ key: "task#3", dueAt: 5 }]);
    expect(await present.listDue(5, 10, 0)).toEqual([]);
  });
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
