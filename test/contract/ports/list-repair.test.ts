import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { listCommands } from "../../../lib/admin/list.ts";
import { listQuerySchema } from "../../../lib/admin/list-query.ts";
import { commandKey, commands } from "../../../lib/engine/command.ts";
import { recordRejection } from "../../../lib/engine/rejection.ts";
import { type LevelDatabase, openLevelDatabase } from "../../../lib/local/level-database.ts";
import { toItem } from "../../../lib/local/level-ledger.ts";
import { repairList } from "../../../lib/local/list-repair.ts";
import type { Ledger } from "../../../lib/platform/ports/ledger.ts";
import { commandOf, wholeItem } from "../../support/commands.ts";
import { openLedgerIn } from "../../support/local-ledger.ts";

const NOW = Date.UTC(2026, 10, 22, 12);

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-list-"));
  onTestFinished(() => rm(directory, { recursive: true }));
});

/** Opens the ledger as a new process would, runs the work and closes it. */
const withLedger = async <T>(work: (ledger: Ledger) => Promise<T>): Promise<T> => {
  const { ledger, close } = await openLedgerIn(directory);
  try {
    return await work(ledger);
  } finally {
    await close();
  }
};

const withDatabase = async <T>(work: (database: LevelDatabase) => Promise<T>): Promise<T> => {
  const database = await openLevelDatabase({
    directory: join(directory, "items"),
    failing: new AbortController(),
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
};

const write = async (id: string): Promise<void> => {
  const command = commandOf({ id, acceptedAt: NOW });
  await withLedger((ledger) => commands.write(ledger, commandKey(command), undefined, command));
};

/** A stored item as the version before the list wrote it: whole, and without a listing. */
const asOlder = (key: string, text: string | undefined) => {
  const { listing, ...stored } = JSON.parse(text ?? "{}");
  const { value } = wholeItem(toItem(key, { listing, ...stored }));
  return { ...stored, text: JSON.stringify(value) };
};

/** Writes an item again, as the version before the list does: without its listing, beside its list entry. */
const rewriteAsOlder = (key: string) =>
  withDatabase(async (database) => {
    const stored = asOlder(key, await database.get("item", key));
    const value = JSON.stringify({ ...stored, version: stored.version + 1 });
    await database.write([{ type: "put", map: "item", key, value }]);
  });

/** Leaves a written item as if the version before the list had created it. */
const createdByOlder = async (key: string): Promise<void> => {
  await rewriteAsOlder(key);
  await withDatabase(async (database) => {
    for await (const entry of database.keys("list")) {
      if (entry.endsWith(key)) await database.write([{ type: "del", map: "list", key: entry }]);
    }
  });
};

const entries = (): Promise<readonly string[]> =>
  withDatabase(async (database) => {
    const keys: string[] = [];
    for await (const key of database.keys("list")) keys.push(key.slice(key.indexOf("\0") + 1));
    return keys;
  });

const idsOf = async (ledger: Ledger): Promise<readonly string[]> => {
  const { rows } = await listCommands(ledger, listQuerySchema().parse({}), NOW);
  return rows.map(({ id }) => id);
};

test("opening a data directory lists the commands and rejections of an older version", async () => {
  const rejection = { digest: "d", eventId: "e1", commandId: "refused", operation: "none" };
  const because = { reason: "not-allowed", problems: [], problemCount: 0, rejectedAt: NOW };
  await write("new");
  await write("old");
  await withLedger((ledger) => recordRejection(ledger, "own", { ...rejection, ...because }));
  await createdByOlder("command#own/old");
  await createdByOlder("rejection#own/e1");
  expect(await entries()).toHaveLength(1);

  expect(await withLedger(idsOf)).toEqual(["refused", "old", "new"]);
  expect(await entries()).toHaveLength(3);
});

test("opening it again changes nothing", async () => {
  await write("old");
  await createdByOlder("command#own/old");
  await withLedger(idsOf);

  await withDatabase(async (database) => {
    const written = vi.spyOn(database, "write");
    await repairList(database);
    expect(written).not.toHaveBeenCalled();
  });
});

test("a repaired item keeps its version, so that its next write is not a conflict", async () => {
  await write("old");
  await createdByOlder("command#own/old");

  await withLedger(async (ledger) => {
    const stored = await commands.read(ledger, "own/old");
    expect(stored?.version).toBe(2);
    expect(await commands.write(ledger, "own/old", stored, commandOf({ id: "old" }))).toBeDefined();
  });
});

test("an item that an older version rewrites stays in the list", async () => {
  await write("kept");
  await rewriteAsOlder("command#own/kept");

  expect(await withLedger(idsOf)).toEqual(["kept"]);
  expect(await entries()).toHaveLength(1);
});

test("removes the entry of an item that an older version has deleted, and no other entry", async () => {
  await write("deleted");
  await write("kept");
  const listing = { partition: "2026-11-22#0", sort: "a kind that a newer version lists" };
  await withLedger((ledger) => ledger.write({ key: "new#1", version: 1, listing, value: {} }));
  await withDatabase((database) =>
    database.write([{ type: "del", map: "item", key: "command#own/deleted" }]),
  );

  await withLedger(idsOf);

  expect([...(await entries())].sort()).toEqual([
    "2026-11-22T12:00:00.000Z#command#own/kept",
    listing.sort,
  ]);
});

test("leaves out an item that this version cannot read, and opens nevertheless", async () => {
  await withDatabase((database) =>
    database.write(
      ["{", '{"version":1,"text":"{}"}', '{"version":null,"text":"{}"}'].map((value, index) => ({
        ...({ type: "put", map: "item", key: `command#own/c${index}`, value } as const),
      })),
    ),
  );

  expect(await withLedger(idsOf)).toEqual([]);
});

test("adds more items than one batch holds", async () => {
  await write("c");
  const many = Array.from({ length: 1_200 }, (_, index) => index);
  await withDatabase(async (database) => {
    const key = "command#own/c";
    const value = JSON.stringify(asOlder(key, await database.get("item", key)));
    await database.write(
      many.map((index) => ({
        type: "put",
        map: "item",
        key: `command#own/c${index}`,
        value,
      })),
    );
  });

  await withLedger(async () => undefined);

  expect(await entries()).toHaveLength(1_201);
});
