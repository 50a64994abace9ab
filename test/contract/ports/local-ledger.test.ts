import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Level } from "level";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openLevelDatabase } from "../../../lib/local/level-database.ts";
import { createLevelLedger } from "../../../lib/local/level-ledger.ts";
import { type Ledger, UnreadableItemError } from "../../../lib/platform/ports/ledger.ts";
import { openLedgerIn } from "../../support/local-ledger.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 60 * 60 * 1000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-ledger-"));
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

const writeTasks = (count: number) => (ledger: Ledger) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      ledger.write({ key: `task#${index}`, version: 1, dueAt: index, value: { index } }),
    ),
  );

const entriesOf = async (): Promise<readonly string[]> => {
  const level = new Level(join(directory, "items"));
  const keys = await level.keys().all();
  await level.close();
  return keys;
};

test("keeps items and due times after a restart", async () => {
  await withLedger(writeTasks(60));

  const { item, due } = await withLedger(async (ledger) => ({
    item: await ledger.read("task#59"),
    due: await ledger.listDue(58, 100),
  }));

  expect(item).toEqual({ key: "task#59", version: 1, dueAt: 59, value: { index: 59 } });
  expect(due).toHaveLength(59);
});

test("removes expired items when it opens, and keeps the others", async () => {
  await withLedger(async (ledger) => {
    await ledger.write({ key: "expired", version: 1, dueAt: 5, expiresAt: NOW - 1, value: {} });
    await ledger.write({ key: "renewed", version: 1, expiresAt: NOW - 1, value: {} });
    await ledger.write({ key: "renewed", version: 2, expiresAt: NOW + 1, value: {} });
    await ledger.write({ key: "alive", version: 1, expiresAt: NOW, value: {} });
    await ledger.write({ key: "for ever", version: 1, value: {} });
  });

  const { keys, due } = await withLedger(async (ledger) => {
    const all = ["expired", "renewed", "alive", "for ever"];
    const items = await Promise.all(all.map(ledger.read));
    return { keys: items.map((item) => item?.key), due: await ledger.listDue(NOW, 10) };
  });

  expect(keys).toEqual([undefined, "renewed", "alive", "for ever"]);
  expect(due).toEqual([]);
  expect(await entriesOf()).toHaveLength(3 + 2);
});

test("removes expired items every hour", async () => {
  const clock = createVirtualClock();
  const { ledger, close } = await openLedgerIn(directory, clock);
  onTestFinished(close);
  await ledger.write({ key: "short", version: 1, expiresAt: NOW + 1, value: {} });
  await ledger.write({ key: "long", version: 1, expiresAt: NOW + HOUR_MS, value: {} });

  await clock.advance(HOUR_MS);

  await expect.poll(() => ledger.read("short")).toBeUndefined();
  expect(await ledger.read("long")).toBeDefined();

  await clock.advance(HOUR_MS);

  await expect.poll(() => ledger.read("long")).toBeUndefined();
});

test("opens for one process at a time, and a second one changes nothing", async () => {
  await withLedger(async (ledger) => {
    await writeTasks(3)(ledger);

    await expect(openLedgerIn(directory)).rejects.toMatchObject({
      cause: { code: "LEVEL_LOCKED" },
    });

    expect(await ledger.listDue(100, 100)).toHaveLength(3);
  });

  expect(await withLedger((ledger) => ledger.listDue(100, 100))).toHaveLength(3);
});

test.each([-1.5, -0.5, 0, 0.5, 1, 1.5, 1e3, Number.MAX_SAFE_INTEGER])(
  "lists items due by %d, and no later ones",
  async (until) => {
    const instants = [1e3, -1.5, 0, Number.MAX_SAFE_INTEGER, 0.5, -0.5, 1.5, 1];
    const due = await withLedger(async (ledger) => {
      for (const dueAt of instants) {
        await ledger.write({ key: `at ${dueAt}`, version: 1, dueAt, value: {} });
      }
      return ledger.listDue(until, 100);
    });

    const expected = instants.filter((dueAt) => dueAt <= until).sort((a, b) => a - b);
    expect(due.map(({ dueAt }) => dueAt)).toEqual(expected);
  },
);

test("refuses a key above the limit of DynamoDB", async () => {
  const key = `command#${"é".repeat(1_500)}`;

  await expect(
    withLedger((ledger) => ledger.write({ key, version: 1, value: {} })),
  ).rejects.toThrow("the key of a ledger item has 3008 bytes; at most 2048 are allowed");
});

test("refuses a sort above the limit of DynamoDB", async () => {
  const listing = { partition: "p", sort: "é".repeat(513) };

  await expect(
    withLedger((ledger) => ledger.write({ key: "command#1", version: 1, listing, value: {} })),
  ).rejects.toThrow(
    "the listing of a ledger item has a sort of 1026 bytes; at most 1024 are allowed",
  );
});

test("counts the listing of an item against the limit of DynamoDB", async () => {
  const listing = { partition: "p", sort: "s", resource: "r".repeat(2_000) };
  const value = { text: "x".repeat(408_000) };

  await expect(
    withLedger((ledger) => ledger.write({ key: "command#1", version: 1, listing, value })),
  ).rejects.toThrow("Item size has exceeded the maximum allowed size");
});

test("removes an expired item from the list", async () => {
  const listing = { partition: "p", sort: "s" };
  await withLedger(async (ledger) => {
    await ledger.write({ key: "command#1", version: 1, expiresAt: NOW - 1, listing, value: {} });
  });

  expect(await withLedger((ledger) => ledger.list("p", undefined, 9))).toEqual([]);
  expect(await entriesOf()).toEqual([]);
});

test.each([
  ["is not JSON", "years of hush", "ledger item command#1 is not readable"],
  ["has another shape", '{"hush":1}', "ledger item command#1 is not readable"],
  ["has no version", '{"version":null,"text":"{}"}', "has no version or no value"],
  ["has no value", '{"version":1,"text":null}', "has no version or no value"],
  ["has a truncated value", '{"version":1,"text":"hush"}', "the value of ledger item command#1"],
])("reports an item that %s as unreadable, without its content", async (_what, stored, message) => {
  const database = await openLevelDatabase({ directory, failing: new AbortController() });
  onTestFinished(database.close);
  await database.write([{ type: "put", map: "item", key: "command#1", value: stored }]);

  const error = await createLevelLedger(database)
    .read("command#1")
    .catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(UnreadableItemError);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toContain("hush");
});

test("attempts no write after a failed one, because LevelDB might lose it", async () => {
  const failing = new AbortController();
  const database = await openLevelDatabase({ directory, failing });
  const ledger = createLevelLedger(database);
  await ledger.write({ key: "before", version: 1, value: {} });
  const full = new Error("No space left on device");
  const batch = vi.spyOn(Level.prototype, "batch").mockImplementationOnce(() => {
    throw full;
  });
  onTestFinished(() => batch.mockRestore());

  await expect(ledger.write({ key: "first", version: 1, value: {} })).rejects.toBe(full);
  await expect(ledger.write({ key: "second", version: 1, value: {} })).rejects.toBe(full);

  expect(failing.signal.reason).toBe(full);
  await database.close();
  const reopened = await openLevelDatabase({ directory, failing: new AbortController() });
  onTestFinished(reopened.close);
  const left = createLevelLedger(reopened);
  expect(await left.read("before")).toBeDefined();
  expect(await left.read("second")).toBeUndefined();
});

test("combines writes that arrive during a commit", async () => {
  const database = await openLevelDatabase({ directory, failing: new AbortController() });
  onTestFinished(database.close);
  const put = (key: string) => database.write([{ type: "put", map: "item", key, value: key }]);
  const batch = vi.spyOn(Level.prototype, "batch");
  onTestFinished(() => batch.mockRestore());

  const first = put("a");
  // Enough for the first write to begin. It cannot end before this test waits for the disk.
  await Promise.resolve();
  await Promise.all([first, ...["b", "c", "d"].map(put)]);

  expect(batch.mock.calls).toMatchObject([
    [{ length: 1 }, { sync: true }],
    [{ length: 3 }, { sync: true }],
  ]);
});
