import { Level } from "level";
import { formatWireJson } from "../contract/json.ts";

/** Records by key, or their texts; null for a record that is removed. A committed record must never change. */
export type StoredEntries = ReadonlyMap<string, object | string | null>;

const textOf = (entry: object | string): string =>
  typeof entry === "string" ? entry : formatWireJson(entry);

/** Storage of the service's records: JSON text by key. */
export interface Store {
  load(): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes all entries or none. Writes none if it rejects, or if the process dies before
   * the write is complete.
   */
  commit(entries: StoredEntries): Promise<void>;
  close(): Promise<void>;
}

/** Keeps the records in memory until the process ends. Formats them only for `load`, which most runs never repeat. */
export const createMemoryStore = (): Store => {
  const committed = new Map<string, object | string>();
  return {
    load: async () => new Map([...committed].map(([key, entry]) => [key, textOf(entry)])),
    commit: async (entries) => {
      for (const [key, entry] of entries) {
        if (entry === null) committed.delete(key);
        else committed.set(key, entry);
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
        [...entries].map(([key, entry]) =>
          entry === null ? { type: "del", key } : { type: "put", key, value: textOf(entry) },
        ),
        { sync: true },
      ),
    close: () => level.close(),
  };
};
