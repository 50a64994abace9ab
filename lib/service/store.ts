import { Level } from "level";

/** Storage of the service's records: text by key. */
export interface Store {
  load(): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes all entries or none; null removes an entry. Writes none if it rejects, or if the process dies before
   * the write is complete.
   */
  commit(entries: ReadonlyMap<string, string | null>): Promise<void>;
  close(): Promise<void>;
}

/** Keeps the records in memory until the process ends. */
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
 * Keeps the records in a directory. A commit is one synced LevelDB batch, which is atomic, so a change that the
 * service has answered survives `kill -9` and power loss.
 * @throws when the directory cannot be written, or when another process has it open
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
