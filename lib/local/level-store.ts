import type { DurableStore } from "./durable-map.ts";
import { type LevelDatabaseOptions, openLevelDatabase } from "./level-database.ts";

/**
 * Maps in one LevelDB. What was deleted is in no file any more after a close, and after the next
 * opening where there was none.
 *
 * @throws Error with code LEVEL_DATABASE_NOT_OPEN when another process has the folder open
 */
export const openLevelStore = async (options: LevelDatabaseOptions): Promise<DurableStore> => {
  const database = await openLevelDatabase(options);
  return {
    map: (name) => ({
      async load() {
        const entries: (readonly [string, unknown])[] = [];
        for await (const [key, text] of database.entries(name)) {
          entries.push([key, JSON.parse(text)]);
        }
        return entries;
      },
      write: (changes) =>
        database.write(
          changes.map((change) =>
            change.kind === "put"
              ? { type: "put", map: name, key: change.key, value: JSON.stringify(change.value) }
              : { type: "del", map: name, key: change.key },
          ),
        ),
    }),
    close: database.close,
  };
};
