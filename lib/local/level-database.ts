import { Level } from "level";
import { MemoryLevel } from "memory-level";

declare module "level" {
  // A method of the package's class in Node, which its types for browsers lack.
  interface Level<KDefault> {
    compactRange(start: KDefault, end: KDefault): Promise<void>;
  }
}

/** Bounds of all keys of a map. */
const [FIRST_KEY, LAST_KEY] = ["\u0000", "\u{10ffff}"];

export type LevelOperation =
  | { readonly type: "put"; readonly map: string; readonly key: string; readonly value: string }
  | { readonly type: "del"; readonly map: string; readonly key: string };

interface EntryRange {
  /** Beginning of the keys. */
  readonly prefix?: string;
  /** Lower bound of the keys. */
  readonly from?: string;
  /** Upper bound of the keys, exclusive. */
  readonly before?: string;
  /** Descending order of the keys. */
  readonly reverse?: boolean;
  /** Maximum number of entries. */
  readonly limit?: number;
}

/** A LevelDB with named maps from key to text, each sorted by key. */
export interface LevelDatabase {
  get(map: string, key: string): Promise<string | undefined>;
  /** Entries sorted by key, as they were at the call. Read them, or they stay open until `close`. */
  entries(map: string, range?: EntryRange): AsyncIterable<readonly [key: string, value: string]>;
  /** The keys of `entries`, in a fraction of its time. */
  keys(map: string, range?: EntryRange): AsyncIterable<string>;
  /**
   * Writes all operations or none. Resolves when they survive the process and, if one of them puts a value,
   * a power cut. After a rejection the outcome is unknown until the next start.
   */
  write(operations: readonly LevelOperation[]): Promise<void>;
  close(): Promise<void>;
}

export interface LevelDatabaseOptions {
  /** Folder, created if missing; undefined: in memory. */
  readonly directory: string | undefined;
  /** Aborted with the error of the first failed write; no write is tried after it. */
  readonly failing: AbortController;
}

/** Elements of an iterator that are read at once, which takes half of the time of one by one. */
const READ_AT_ONCE = 500;

interface BatchIterator<T> {
  nextv(size: number): Promise<T[]>;
  close(): Promise<void>;
}

async function* allOf<T, R>(
  iterator: BatchIterator<T>,
  toResult: (element: T) => R,
): AsyncGenerator<R> {
  try {
    let some = await iterator.nextv(READ_AT_ONCE);
    while (some.length > 0) {
      // `yield*` would wait twice for each element.
      for (const element of some) yield toResult(element);
      some = await iterator.nextv(READ_AT_ONCE);
    }
  } finally {
    await iterator.close();
  }
}

/** Key format of abstract-level's sublevels, which all data folders have. */
const fullKey = (map: string, key: string): string => `!${map}!${key}`;
const END_OF_MAP = '"';

/**
 * Compacts the files now. LevelDB keeps deleted and replaced values in them until it compacts, which may
 * take days.
 */
const eraseTraces = async (level: Level<string, string>): Promise<void> => {
  // The first compaction only writes entries from memory to a file, deleted ones included.
  await level.compactRange(FIRST_KEY, LAST_KEY);
  // LevelDB rewrites a file only together with a newer one that overlaps it.
  await level.batch([FIRST_KEY, LAST_KEY].map((key) => ({ type: "del", key })));
  await level.compactRange(FIRST_KEY, LAST_KEY);
};

/**
 * Collects the writes that arrive during a write and commits them as one, because each commit costs an
 * fsync.
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
 * Runs a write unless an earlier one failed. After a failed write, for instance on a full disk, LevelDB's log
 * may end in half a record. A later write would seem to succeed, but the next start could not read it.
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
 * Opens a LevelDB.
 * @throws Error with code LEVEL_DATABASE_NOT_OPEN when the folder cannot be opened, or is already open
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
      // A deletion acknowledges finished work. After a power cut, that work may be repeated.
      const sync = operations.some(({ type }) => type === "put");
      return level instanceof Level ? level.batch(batch, { sync }) : level.batch(batch);
    });
  const rangeOf = (
    map: string,
    { prefix = "", from = prefix, before, reverse = false, limit = -1 }: EntryRange,
  ) => {
    const end = prefix === "" ? `!${map}${END_OF_MAP}` : `${fullKey(map, prefix)}${LAST_KEY}`;
    const lt = before === undefined ? end : fullKey(map, before);
    return { gte: fullKey(map, from), lt, reverse, limit };
  };
  const keyIn = (map: string, key: string): string => key.slice(fullKey(map, "").length);
  return {
    // A read takes a fifth of the time of its trip to another thread: LevelDB has recent values in memory.
    get: async (map, key) => level.getSync(fullKey(map, key)),
    entries(map, range = {}) {
      const found = rangeOf(map, range);
      const iterator = level instanceof Level ? level.iterator(found) : level.iterator(found);
      return allOf(iterator, ([key, value]) => [keyIn(map, key), value] as const);
    },
    keys(map, range = {}) {
      const found = rangeOf(map, range);
      const iterator = level instanceof Level ? level.keys(found) : level.keys(found);
      return allOf(iterator, (key) => keyIn(map, key));
    },
    write: createGroupCommit(commit),
    async close() {
      if (level instanceof Level && !failing.signal.aborted) await eraseTraces(level);
      await level.close();
    },
  };
};
