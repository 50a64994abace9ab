import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Level } from "level";
import * as z from "zod";
import type { Clock } from "../platform/ports/clock.ts";
import type { Ledger } from "../platform/ports/ledger.ts";
import type { Log } from "../platform/ports/log.ts";
import type { DataDirectory } from "./data-directory.ts";
import { openLevelDatabase } from "./level-database.ts";
import { createLevelLedger, replacing, type StoredItem } from "./level-ledger.ts";
import { repairList } from "./list-repair.ts";

/** Subfolder of the items. The folder may also contain subfolders of an earlier format. */
const CURRENT = "items";
const BUILDING = `${CURRENT}.new`;
/** Up to format 3, a DynamoDB emulator stored the ledger, in a new folder at each start. */
const GENERATION = /^table-(\d+)$/;
/** Range of the emulator's keys of the table. */
const ITEMS = { gte: "item-skyhook-local~", lt: "item-skyhook-local\u007f" };
const BATCH_SIZE = 500;

type LedgerData = Pick<DataDirectory, "ledger" | "raiseFormat">;

const text = z.object({ S: z.string() }).transform(({ S }) => S);
const number = z.object({ N: z.string() }).transform(({ N }) => Number(N));
/** An item of the emulator, with DynamoDB's types by letter. Only the key is certain to exist. */
const oldItemSchema = z.object({
  pk: text,
  version: number.optional(),
  value: text.optional(),
  dueAt: number.optional(),
  expiresAt: number.optional(),
});

const toStored = (old: z.output<typeof oldItemSchema>): StoredItem => ({
  version: old.version ?? null,
  text: old.value ?? null,
  ...(old.dueAt === undefined ? {} : { dueAt: old.dueAt }),
  ...(old.expiresAt === undefined ? {} : { expiresAt: old.expiresAt * 1000 }),
});

const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, "r");
  await file.sync();
  await file.close();
};

/** Syncs the folder, so that it survives a power cut. Windows cannot sync folders. */
const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform !== "win32") await syncFile(folder);
};

const copyItems = async (from: string, to: string): Promise<void> => {
  const old = new Level<string, unknown>(from, { valueEncoding: "json", createIfMissing: false });
  await old.open();
  const database = await openLevelDatabase({ directory: to, failing: new AbortController() });
  try {
    let batch: ReturnType<typeof replacing>[] = [];
    for await (const value of old.values(ITEMS)) {
      const item = oldItemSchema.parse(value);
      batch.push(replacing(item.pk, undefined, toStored(item)));
      if (batch.length < BATCH_SIZE) continue;
      await database.write(batch.flat());
      batch = [];
    }
    await database.write(batch.flat());
  } finally {
    await database.close();
    await old.close();
  }
  for (const name of await readdir(to)) await syncFile(join(to, name));
  await syncFolder(to);
};

const listGenerations = async (directory: string): Promise<readonly number[]> =>
  (await readdir(directory))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

/**
 * Copies the ledger of an earlier format, if there is one, into the current format.
 *
 * The copy is built in another folder and becomes the ledger by one rename. Until the rename, the unchanged
 * old ledger is authoritative; after it, the old ledger is never read. The format is raised between copy and
 * rename, so that no earlier program can change the old ledger after the copy.
 *
 * Only one process at a time may call it.
 */
const copyOldLedger = async ({ ledger: directory, raiseFormat }: LedgerData): Promise<void> => {
  await mkdir(directory, { recursive: true });
  const newest = (await listGenerations(directory)).at(-1);
  const isCopied = (await readdir(directory)).includes(CURRENT);
  if (newest === undefined || isCopied) return;

  const building = join(directory, BUILDING);
  await rm(building, { recursive: true, force: true });
  await copyItems(join(directory, `table-${newest}`), building);
  await raiseFormat();
  await rename(building, join(directory, CURRENT));
  await syncFolder(directory);
};

/** Removes folders of the earlier format, and incomplete ones of a killed start. */
const removeOldLedger = async (directory: string): Promise<void> => {
  const isLeftOver = (name: string): boolean =>
    GENERATION.test(name) || name === "building" || name === BUILDING;
  for (const name of (await readdir(directory)).filter(isLeftOver)) {
    await rm(join(directory, name), { recursive: true });
  }
};

const HOUR_MS = 60 * 60 * 1000;

export interface LocalLedgerOptions {
  /** Folder of the ledger, for one process at a time; absent: in memory. */
  readonly data?: LedgerData | undefined;
  /** Aborted with the error of the first failed write. */
  readonly failing: AbortController;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LocalLedger {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

/**
 * Opens the ledger of a local run. On disk, an acknowledged write survives kill -9 and power cuts. Expired
 * items are removed now and every hour. The list is completed for items that an older version has written. A
 * ledger of an earlier format is copied, and removed when this one closes.
 */
export const openLocalLedger = async (options: LocalLedgerOptions): Promise<LocalLedger> => {
  const { data, failing, clock, log } = options;
  if (data) await copyOldLedger(data);
  const directory = data && join(data.ledger, CURRENT);
  const database = await openLevelDatabase({ directory, failing });
  await repairList(database);
  const ledger = createLevelLedger(database);
  await ledger.removeExpired(clock.now());

  const closing = new AbortController();
  const removeHourly = async (): Promise<void> => {
    await clock.sleep(HOUR_MS, closing.signal);
    while (!closing.signal.aborted) {
      await ledger.removeExpired(clock.now()).catch((error: unknown) => {
        log.warn("expired ledger items not removed, retrying in an hour", {
          errorMessage: String(error),
        });
      });
      await clock.sleep(HOUR_MS, closing.signal);
    }
  };
  const removing = removeHourly();

  return {
    ledger,
    async close() {
      closing.abort();
      await removing;
      await database.close();
      if (data && !failing.signal.aborted) await removeOldLedger(data.ledger);
    },
  };
};
