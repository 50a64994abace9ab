import { LISTED_PREFIXES, listingOfItem } from "../engine/listed-items.ts";
import { isUnreadable } from "../ledger/record.ts";
import type { LevelDatabase, LevelOperation } from "./level-database.ts";
import { ITEMS, LIST, listEntrySchema, parseStored, replacing, toItem } from "./level-ledger.ts";

const BATCH_SIZE = 500;

/** Operations that list an item; none for an item outside the list, or one that this version cannot read. */
const listing = async (
  database: LevelDatabase,
  key: string,
): Promise<readonly LevelOperation[]> => {
  const text = await database.get(ITEMS, key);
  if (text === undefined) return [];
  try {
    const stored = parseStored(key, text);
    const found = listingOfItem(toItem(key, stored));
    return found ? replacing(key, stored, { ...stored, listing: found }) : [];
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return [];
  }
};

/** The key of each list entry, by the key of its item. */
const readEntries = async (database: LevelDatabase): Promise<Map<string, string>> => {
  const entries = new Map<string, string>();
  for await (const [entryKey, text] of database.entries(LIST)) {
    entries.set(listEntrySchema.parse(JSON.parse(text)).key, entryKey);
  }
  return entries;
};

/**
 * Adds the items that the list lacks, and removes entries without an item. An older version neither writes nor
 * deletes entries. Call it before the ledger is used. Compares keys only: `npm run bench` measures it.
 */
export const repairList = async (database: LevelDatabase): Promise<void> => {
  const entries = await readEntries(database);
  let batch: LevelOperation[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await database.write(batch);
    batch = [];
  };
  for (const prefix of LISTED_PREFIXES) {
    for await (const key of database.keys(ITEMS, { prefix })) {
      if (entries.delete(key)) continue;
      batch.push(...(await listing(database, key)));
      if (batch.length >= BATCH_SIZE) await flush();
    }
  }
  for (const [key, entryKey] of entries) {
    const isStale = (await database.get(ITEMS, key)) === undefined;
    if (isStale) batch.push({ type: "del", map: LIST, key: entryKey });
  }
  await flush();
};
