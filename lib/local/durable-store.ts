import type { JsonValue } from "../platform/ports/ledger.ts";
import { type LevelDatabaseOptions, openLevelDatabase } from "./level-database.ts";

export type MapChange =
  | { readonly kind: "put"; readonly key: string; readonly value: JsonValue }
  | { readonly kind: "delete"; readonly key: string };

/** Persistent state of one local adapter. The adapter reads it once and then works in memory. */
export interface DurableMap {
  /** All entries, sorted by key. */
  load(): Promise<readonly (readonly [key: string, value: unknown])[]>;
  /**
   * Writes all changes or none. Resolves when they survive the end of this process, also by kill -9. Changes
   * that put a value survive a power cut, with all earlier changes; mere deletions may not.
   */
  write(changes: readonly MapChange[]): Promise<void>;
}

/** A store of several maps by name. */
export interface DurableStore {
  map(name: string): DurableMap;
  close(): Promise<void>;
}

const DIGITS = 20;

/** Room for this many numbers within a millisecond before they run ahead of the clock. */
const PER_MILLISECOND = 1_000_000n;

/**
 * The number after `previous`, in 20 digits as in SQS, so that numbers sort as text. It follows the clock,
 * so that it grows over a restart even if no earlier number is stored.
 */
export const nextSequence = (previous: string | undefined, nowMs: number): string => {
  const byClock = BigInt(Math.floor(nowMs)) * PER_MILLISECOND;
  const following = previous === undefined ? 0n : BigInt(previous) + 1n;
  return String(following > byClock ? following : byClock).padStart(DIGITS, "0");
};

const createMemoryMap = (): DurableMap => {
  // Values are text, as on disk, so that no caller shares an object with the store.
  const texts = new Map<string, string>();
  return {
    load: async () =>
      [...texts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, text]) => [key, JSON.parse(text)] as const),
    async write(changes) {
      for (const change of changes) {
        if (change.kind === "put") texts.set(change.key, JSON.stringify(change.value));
        else texts.delete(change.key);
      }
    },
  };
};

/** Maps in memory: adapters of this process may open them again. */
export const createMemoryStore = (): DurableStore => {
  const maps = new Map<string, DurableMap>();
  return {
    map(name) {
      const existing = maps.get(name);
      if (existing !== undefined) return existing;
      const map = createMemoryMap();
      maps.set(name, map);
      return map;
    },
    close: async () => undefined,
  };
};

/**
 * Maps in one LevelDB. A close removes deleted values from the files; after a crash, the next opening does.
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
