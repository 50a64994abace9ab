import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Level } from "level";
import * as z from "zod";
import { openLevelDatabase } from "./level-database.ts";
import { replacing, type StoredItem } from "./level-ledger.ts";

/** Until format 3 a DynamoDB emulator kept the ledger, in one folder for each start that was made. */
const GENERATION = /^table-(\d+)$/;
/** The emulator put every item of the table under its name and a tilde. */
const ITEMS = { gte: "item-skyhook-local~", lt: "item-skyhook-local\u007f" };
const BATCH_SIZE = 500;

const text = z.object({ S: z.string() }).transform(({ S }) => S);
const number = z.object({ N: z.string() }).transform(({ N }) => Number(N));
/** Of the attributes, which DynamoDB types by a letter, only the key is sure to be there. */
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

/** Makes the folder, as it is now, outlive a power cut. Windows syncs no folders. */
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

export interface OldLedgerOptions {
  /** Where both formats have their folders. */
  readonly directory: string;
  /** Folder of the present format, inside of it. */
  readonly current: string;
  /** Makes earlier programs refuse the data directory. */
  readonly raiseFormat: () => Promise<void>;
}

const listGenerations = async (directory: string): Promise<readonly number[]> =>
  (await readdir(directory))
    .flatMap((name) => GENERATION.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

/**
 * Copies the ledger of an earlier format, where there is one, into the present format.
 *
 * The copy is built beside and becomes the ledger by one rename. Until then the old ledger is the true
 * one, and unchanged; from then on it is not read any more. The format is raised between the two, so
 * that no earlier program can change the old ledger after the copy was made.
 *
 * To be called by one process at a time.
 */
export const copyOldLedger = async (options: OldLedgerOptions): Promise<void> => {
  const { directory, current, raiseFormat } = options;
  await mkdir(directory, { recursive: true });
  const newest = (await listGenerations(directory)).at(-1);
  const isCopied = (await readdir(directory)).includes(current);
  if (newest === undefined || isCopied) return;

  const building = join(directory, `${current}.new`);
  await rm(building, { recursive: true, force: true });
  await copyItems(join(directory, `table-${newest}`), building);
  await raiseFormat();
  await rename(building, join(directory, current));
  await syncFolder(directory);
};

/** Removes the folders of the earlier format, and those that a killed start left half built. */
export const removeOldLedger = async (directory: string, current: string): Promise<void> => {
  const isLeftOver = (name: string): boolean =>
    GENERATION.test(name) || name === "building" || name === `${current}.new`;
  for (const name of (await readdir(directory)).filter(isLeftOver)) {
    await rm(join(directory, name), { recursive: true });
  }
};
