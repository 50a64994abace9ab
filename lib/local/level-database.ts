import { Level } from "level";
import { MemoryLevel } from "memory-level";

declare module "level" {
  // Of the class that the package is in Node, and not in a browser.
  interface Level<KDefault> {
    compactRange(start: KDefault, end: KDefault): Promise<void>;
  }
}

/** Every key of a map lies between the two. */
const [FIRST_KEY, LAST_KEY] = ["\u0000", "\u{10ffff}"];

export type LevelOperation =
  | { readonly type: "put"; readonly map: string; readonly key: string; readonly value: string }
  | { readonly type: "del"; readonly map: string; readonly key: string };

interface EntryRange {
  /** Only keys that sort before this one. */
  readonly before?: string;
  /** Entries at most. */
  readonly limit?: number;
}

/** One LevelDB: named maps from key to text, each sorted by key. */
export interface LevelDatabase {
  get(map: string, key: string): Promise<string | undefined>;
  /** Sorted by key; writes made after the first entry was read do not show. */
  entries(map: string, range?: EntryRange): AsyncIterable<readonly [key: string, value: string]>;
  /**
   * All operations or none. Resolves when they outlive the process, and, if one of them puts a value,
   * a power cut too. A rejection leaves the outcome open until the next start.
   */
  write(operations: readonly LevelOperation[]): Promise<void>;
  close(): Promise<void>;
}

export interface LevelDatabaseOptions {
  /** Folder, made when it is missing; undefined: in memory. */
  readonly directory: string | undefined;
  /** Aborted with the error of the first write that fails; from then on no write is tried. */
  readonly failing: AbortController;
}

/** The form of abstract-level's sublevels, which data folders have from the beginning. */
const fullKey = (map: string, key: string): string => `!${map}!${key}`;
const END_OF_MAP = '"';

/**
 * LevelDB keeps deleted and replaced values in its files until it compacts them, which may take days.
 * Compacts them now.
 */
const eraseTraces = async (level: Level<string, string>): Promise<void> => {
  // The first compaction only writes what is in memory into a file, deleted or not.
  await level.compactRange(FIRST_KEY, LAST_KEY);
  // LevelDB rewrites a file only together with a newer one that overlaps it.
  await level.batch([FIRST_KEY, LAST_KEY].map((key) => ({ type: "del", key })));
  await level.compactRange(FIRST_KEY, LAST_KEY);
};

/**
 * Gathers the writes that come while one is under way, and commits them as one. Otherwise each would
 * pay for an fsync of its own.
 */
const createGroupCommit = (
  commit: (operations: readonly LevelOperation[]) => Promise<void>,
): LevelDatabase["write"] => {
  let gathering: { readonly group: LevelOperation[]; readonly done: Promise<void> } | undefined;
  let last: Promise<void> = Promise.resolve();
  return (operations) => {
    if (gathering === undefined) {
      const group: LevelOperation[] = [];
      const done = last.then(() => {
        gathering = undefined;
        return commit(group);
      });
      gathering = { group, done };
      last = done.catch(() => undefined);
    }
    gathering.group.push(...operations);
    return gathering.done;
  };
};

/**
 * Runs the write, unless one has failed before. After a write has failed, for instance on a full disk,
 * LevelDB's log may end in half a record. A later write would seem to succeed behind it, and the next
 * start would read neither.
 */
export const writeUnlessFailed = async (
  failing: AbortController,
  write: () => Promise<void>,
): Promise<void> => {
  failing.signal.throwIfAborted();
  try {
    await write();
  } catch (error) {
    failing.abort(error);
    throw error;
  }
};

/**
 * @throws Error with code LEVEL_DATABASE_NOT_OPEN when the folder cannot be opened, or is open already
 */
export const openLevelDatabase = async (options: LevelDatabaseOptions): Promise<LevelDatabase> => {
  const { directory, failing } = options;
  const level =
    directory === undefined
      ? new MemoryLevel<string, string>()
      : new Level<string, string>(directory);
  await level.open();
  if (level instanceof Level) await eraseTraces(level);

  const toBatch = (operations: readonly LevelOperation[]) =>
    operations.map(({ map, key, ...operation }) => ({ ...operation, key: fullKey(map, key) }));
  const commit = (operations: readonly LevelOperation[]): Promise<void> =>
    writeUnlessFailed(failing, () => {
      const batch = toBatch(operations);
      // A deletion acknowledges work that is done. After a power cut the work may come again.
      const sync = operations.some(({ type }) => type === "put");
      return level instanceof Level ? level.batch(batch, { sync }) : level.batch(batch);
    });
  return {
    get: (map, key) => level.get(fullKey(map, key)),
    async *entries(map, { before, limit = -1 } = {}) {
      const gte = fullKey(map, "");
      const lt = before === undefined ? `!${map}${END_OF_MAP}` : fullKey(map, before);
      const found = { gte, lt, limit };
      const iterator = level instanceof Level ? level.iterator(found) : level.iterator(found);
      for await (const [key, value] of iterator) {
        yield [key.slice(gte.length), value] as const;
      }
    },
    write: createGroupCommit(commit),
    async close() {
      if (level instanceof Level && !failing.signal.aborted) await eraseTraces(level);
      await level.close();
    },
  };
};
