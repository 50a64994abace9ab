import { Level } from "level";
import type { Store } from "./store.ts";

/**
 * Keeps the records in a directory. A commit is one LevelDB batch, which its log makes atomic, and is
 * synced, so an answered change survives `kill -9` and power loss alike.
 * @throws when the directory cannot be written or another process has it open
 */
export const openLevelStore = async (directory: string): Promise<Store> => {
  const level = new Level<string, string>(directory);
  await level.open();
  return {
    load: async () => new Map(await level.iterator().all()),
    commit: (entries) =>
      level.batch(
        [...entries].map(([key, value]) =>
          value === null ? { type: "del", key } : { type: "put", key, value },
        ),
        { sync: true },
      ),
    close: () => level.close(),
  };
};
