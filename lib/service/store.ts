import { Level } from "level";

/** Keeps the service's records: text by key. */
export interface Store {
  load(): Promise<ReadonlyMap<string, string>>;
  /** Writes all entries, null removing one; none, if it rejects or the process dies before it resolves. */
  commit(entries: ReadonlyMap<string, string | null>): Promise<void>;
  close(): Promise<void>;
}

/** Forgets everything when the process ends. */
export const createMemoryStore = (): Store => {
  const committed = new Map<string, string>();
  return {
    load: async () => new Map(committed),
    commit: async (entries) => {
      for (const [key, text] of entries) {
        if (text === null) committed.delete(key);
        else committed.set(key, text);
      }
    },
    close: async () => {},
  };
};

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
