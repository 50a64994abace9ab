import { Level } from "level";
import type { DurableStore } from "./durable-map.ts";
import { eraseTraces } from "./erase-traces.ts";

/**
 * Maps in one LevelDB folder, which is created when it is missing. LevelDB hands each write to the
 * operating system before it answers, so the death of the process loses nothing. What was deleted is in
 * no file any more after a close, and after the next opening where there was none.
 *
 * @throws Error with code LEVEL_DATABASE_NOT_OPEN when another process has the folder open
 */
export const openLevelStore = async (directory: string): Promise<DurableStore> => {
  const level = new Level<string, unknown>(directory, { valueEncoding: "json" });
  await level.open();
  await eraseTraces(level);
  return {
    map(name) {
      const sublevel = level.sublevel<string, unknown>(name, { valueEncoding: "json" });
      return {
        load: () => sublevel.iterator().all(),
        write: (changes) =>
          sublevel.batch(
            changes.map((change) =>
              change.kind === "put"
                ? { type: "put", key: change.key, value: change.value }
                : { type: "del", key: change.key },
            ),
          ),
      };
    },
    async close() {
      await eraseTraces(level);
      await level.close();
    },
  };
};
