import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { Level } from "level";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type DataDirectory, openDataDirectory } from "../../../lib/local/data-directory.ts";
import { openLocalLedger } from "../../../lib/local/local-ledger.ts";
import { createDynamodbLedger } from "../../../lib/platform/aws/dynamodb-ledger.ts";
import type { Ledger, LedgerItem } from "../../../lib/platform/ports/ledger.ts";
import { buildProgram } from "../../support/killable-child.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { openTableServer } from "../../support/table-server.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 1);
const TABLE = "skyhook-local";
const UNREADABLE = "command#unreadable";

const items: readonly LedgerItem[] = [
  { key: "command#1", version: 3, dueAt: 7, expiresAt: NOW + 60_000, value: { a: ["é", null] } },
  { key: "lane#x~y/!z", version: 1, dueAt: 5, value: { __proto: 0.1, text: '"\\' } },
  { key: "budget#local", version: 2, expiresAt: NOW, value: {} },
  ...Array.from({ length: 600 }, (_, index) => ({
    key: `task#${index}`,
    version: 1,
    dueAt: 1_000 + index,
    value: { index },
  })),
];
const expired: LedgerItem = { key: "command#0", version: 1, expiresAt: NOW - 1_000, value: {} };

/** A data directory of format 3, created by the emulator that stored its ledger. */
let old: string;
let parent: string;
let path: string;

const writeVersions = async (ledger: Ledger, item: LedgerItem): Promise<void> => {
  for (let version = 1; version <= item.version; version += 1) {
    await ledger.write({ ...item, version });
  }
};

const makeOld = async (): Promise<void> => {
  await mkdir(join(old, "ledger"), { recursive: true });
  await writeFile(join(old, "skyhook.json"), '{"format":3,"fingerprintKey":"the key"}\n');
  const server = await openTableServer(TABLE, join(old, "ledger", "table-7"));
  const client = new DynamoDBClient(server.clientConfig);
  const ledger = createDynamodbLedger({ client, tableName: TABLE });
  for (let start = 0; start < items.length; start += 50) {
    const some = items.slice(start, start + 50);
    await Promise.all(some.map((item) => writeVersions(ledger, item)));
  }
  await ledger.write(expired);
  const torn = { pk: { S: UNREADABLE }, version: { N: "4" }, value: { S: "{" } };
  await client.send(new PutItemCommand({ TableName: TABLE, Item: torn }));
  client.destroy();
  await server.close();
};

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "skyhook-old-"));
  old = join(parent, "old");
  path = join(parent, "data");
  await makeOld();
});
afterAll(() => rm(parent, { recursive: true }));
beforeEach(async () => {
  await rm(path, { recursive: true, force: true });
  await cp(old, path, { recursive: true });
});

const open = async (data: DataDirectory) =>
  openLocalLedger({
    data,
    failing: new AbortController(),
    clock: createVirtualClock(NOW),
    log: silentLog,
  });
const openData = (): Promise<DataDirectory> => openDataDirectory(path, createSeededRandom());

const formatOf = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(path, "skyhook.json"), "utf8"));

const expectAllIn = async (ledger: Ledger): Promise<void> => {
  const read = await Promise.all(items.map(({ key }) => ledger.read(key)));
  expect(read).toEqual(items);
  expect(await ledger.read(expired.key)).toBeUndefined();
  await expect(ledger.read(UNREADABLE)).rejects.toThrow("is not readable JSON");
  const due = items.flatMap(({ key, dueAt }) => (dueAt === undefined ? [] : [{ key, dueAt }]));
  expect(await ledger.listDue(NOW, 10_000)).toEqual(due.sort((a, b) => a.dueAt - b.dueAt));
};

const countOld = async (): Promise<number> => {
  const level = new Level(join(path, "ledger", "table-7"), { createIfMissing: false });
  const keys = await level.keys({ gte: `item-${TABLE}~`, lt: `item-${TABLE}\u007f` }).all();
  await level.close();
  return keys.length;
};

describe("the ledger of a data directory of format 3", () => {
  test("is complete and writable after the upgrade", async () => {
    const { ledger, close } = await open(await openData());
    onTestFinished(close);

    await expectAllIn(ledger);
    expect(await ledger.write({ key: "command#1", version: 3, value: {} })).toBe("conflict");
    expect(await ledger.write({ key: "command#1", version: 4, value: {} })).toBe("written");
    expect(await ledger.write({ key: UNREADABLE, version: 1, value: {} })).toBe("conflict");
    expect(await ledger.write({ key: UNREADABLE, version: 5, value: {} })).toBe("written");
  });

  test("stays beside its copy until the first clean close removes it", async () => {
    const first = await open(await openData());
    const beside = await readdir(join(path, "ledger"));
    await first.close();
    const second = await open(await openData());
    onTestFinished(second.close);

    expect(beside.toSorted()).toEqual(["items", "table-7"]);
    expect(await readdir(join(path, "ledger"))).toEqual(["items"]);
    await expectAllIn(second.ledger);
  });

  test("raises the folder's format, and keeps its fingerprint key", async () => {
    const data = await openData();

    await (await open(data)).close();

    expect(data.fingerprintKey).toBe("the key");
    expect(await formatOf()).toEqual({ format: 4, fingerprintKey: "the key" });
  });

  test("is in the table folder with the highest number", async () => {
    await mkdir(join(path, "ledger", "table-6"));
    await cp(join(path, "ledger", "table-7"), join(path, "ledger", "table-10"), {
      recursive: true,
    });
    await rm(join(path, "ledger", "table-7", "CURRENT"));

    const { ledger, close } = await open(await openData());
    await expectAllIn(ledger);
    await close();

    expect(await readdir(join(path, "ledger"))).toEqual(["items"]);
  });

  test("is refused and left unchanged when it is damaged", async () => {
    await rm(join(path, "ledger", "table-7", "CURRENT"));
    const before = await readdir(join(path, "ledger", "table-7"));
    const data = await openData();

    await expect(open(data)).rejects.toMatchObject({ code: "LEVEL_DATABASE_NOT_OPEN" });

    expect(await readdir(join(path, "ledger", "table-7"))).toEqual(expect.arrayContaining(before));
    expect(await formatOf()).toMatchObject({ format: 3 });
  });

  test("is not read again once its copy is the ledger, even without a clean close", async () => {
    const first = await open(await openData());
    await first.ledger.write({ key: "command#1", version: 4, value: { new: true } });
    const copy = `${path}-copy`;
    await cp(path, copy, { recursive: true });
    await first.close();
    await rm(path, { recursive: true });
    await cp(copy, path, { recursive: true });
    await rm(copy, { recursive: true });

    const { ledger, close } = await open(await openData());
    onTestFinished(close);

    expect(await ledger.read("command#1")).toMatchObject({ version: 4, value: { new: true } });
  });

  test("loses nothing by a kill -9 at any step of the copy or of the first close", async () => {
    const program = await buildProgram("test/contract/ports/ledger-opener.ts");
    onTestFinished(program.remove);
    const formats: unknown[] = [];
    let step = 0;
    let ended: unknown;
    do {
      step += 1;
      await rm(path, { recursive: true });
      await cp(old, path, { recursive: true });

      ended = await program.run([path, String(step)]);

      const mark = await formatOf();
      formats.push(mark);
      // An earlier program can still read the folder until the format is raised.
      if (JSON.stringify(mark).includes('"format":3')) {
        expect(await countOld()).toBe(items.length + 2);
      }
      const { ledger, close } = await open(await openData());
      await expectAllIn(ledger);
      await close();
      expect(await readdir(join(path, "ledger"))).toEqual(["items"]);
    } while (ended === "SIGKILL");

    expect(ended).toBe(0);
    expect(step).toBeGreaterThan(30);
    expect(new Set(formats.map((mark) => JSON.stringify(mark))).size).toBe(2);
  }, 240_000);
});
