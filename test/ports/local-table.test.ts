import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Level } from "level";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createDynamodbLedger } from "../../lib/aws/dynamodb-ledger.ts";
import { openLocalTable } from "../../lib/local/local-table.ts";
import type { Ledger } from "../../lib/ports/ledger.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

const NOW = 1_767_225_600_000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-table-"));
  onTestFinished(() => rm(directory, { recursive: true }));
});

/** Opens the table, as the next process does, for the time of the work. */
const withLedger = async <T>(work: (ledger: Ledger) => Promise<T>): Promise<T> => {
  const table = await openLocalTable({
    tableName: "ledger",
    directory,
    clock: createVirtualClock(),
  });
  const client = new DynamoDBClient(table.clientConfig);
  try {
    return await work(createDynamodbLedger({ client, tableName: "ledger" }));
  } finally {
    client.destroy();
    await table.close();
  }
};

const writeTasks = (count: number) => (ledger: Ledger) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      ledger.write({ key: `task#${index}`, version: 1, dueAt: index, value: { index } }),
    ),
  );

test("keeps items and their due times over a restart", async () => {
  await withLedger(writeTasks(60));

  const { item, due } = await withLedger(async (ledger) => ({
    item: await ledger.read("task#59"),
    due: await ledger.listDue(58, 100),
  }));

  expect(item).toEqual({ key: "task#59", version: 1, dueAt: 59, value: { index: 59 } });
  expect(due).toHaveLength(59);
});

test("builds the due index anew from the items", async () => {
  await withLedger(writeTasks(3));
  const level = new Level<string, unknown>(join(directory, "table-1"), { valueEncoding: "json" });
  const keys = (await level.keys().all()).filter((key) => key.startsWith("index-"));
  await level.batch(keys.map((key) => ({ type: "del", key })));
  await level.close();

  const due = await withLedger((ledger) => ledger.listDue(100, 100));

  expect(keys).toHaveLength(3);
  expect(due).toEqual([
    { key: "task#0", dueAt: 0 },
    { key: "task#1", dueAt: 1 },
    { key: "task#2", dueAt: 2 },
  ]);
});

test("drops items that have expired, and keeps the others", async () => {
  await withLedger(async (ledger) => {
    await ledger.write({ key: "expired", version: 1, expiresAt: NOW - 1000, value: {} });
    await ledger.write({ key: "alive", version: 1, expiresAt: NOW + 1000, value: {} });
    await ledger.write({ key: "for ever", version: 1, value: {} });
  });

  const keys = await withLedger(async (ledger) => {
    const items = await Promise.all(["expired", "alive", "for ever"].map(ledger.read));
    return items.map((item) => item?.key);
  });

  expect(keys).toEqual([undefined, "alive", "for ever"]);
});

test("copies more than one page of a scan", async () => {
  // A page ends at 1 MB; these are 3.
  const text = "x".repeat(100_000);
  await withLedger(async (ledger) => {
    for (let index = 0; index < 30; index += 1) {
      await ledger.write({ key: `large#${index}`, version: 1, dueAt: index, value: { text } });
    }
  });

  const due = await withLedger((ledger) => ledger.listDue(100, 100));

  expect(due).toHaveLength(30);
});

test("starts over when it was killed while building the new folder", async () => {
  await withLedger(writeTasks(3));
  await mkdir(join(directory, "building"));
  await writeFile(join(directory, "building", "CURRENT"), "half of a table");

  expect(await withLedger((ledger) => ledger.listDue(100, 100))).toHaveLength(3);

  expect(await readdir(directory)).toEqual(["table-2"]);
});

test("takes the newer folder when it was killed before it removed the older", async () => {
  await withLedger(writeTasks(3));
  await cp(join(directory, "table-1"), join(directory, "table-9"), { recursive: true });
  await cp(join(directory, "table-1"), join(directory, "table-10"), { recursive: true });
  await rm(join(directory, "table-9", "CURRENT"));

  expect(await withLedger((ledger) => ledger.listDue(100, 100))).toHaveLength(3);

  expect(await readdir(directory)).toEqual(["table-11"]);
});

test("leaves the table as it is when another process has it open", async () => {
  await withLedger(async (ledger) => {
    await writeTasks(3)(ledger);

    await expect(
      openLocalTable({ tableName: "ledger", directory, clock: createVirtualClock() }),
    ).rejects.toMatchObject({ cause: { code: "LEVEL_LOCKED" } });

    expect(await ledger.listDue(100, 100)).toHaveLength(3);
  });

  expect(await withLedger((ledger) => ledger.listDue(100, 100))).toHaveLength(3);
});
