import { type AiTaskIndex, type AiTaskView, createAiTaskIndex } from "./ai-task-index.ts";
import { createSortedList, type SortedList } from "./sorted-list.ts";
import {
  COLLECTIONS,
  type CollectionName,
  keyOf,
  type RecordOf,
  type State,
  stateSchema,
} from "./state/state.ts";
import type { Store, StoredEntries } from "./store.ts";
import { fromEntries } from "./stored-state.ts";
import { createTaskIndex, type TaskIndex, type TaskView } from "./task-index.ts";

const byText = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** The committed records of a kind by key, and their keys in order. */
interface Collection<R> {
  readonly records: Map<string, R>;
  readonly keys: SortedList<string>;
}

type Collections = { readonly [C in CollectionName]: Collection<RecordOf<C>> };

const noRecords = <R>(): Collection<R> => ({
  records: new Map(),
  keys: createSortedList(byText),
});

const emptyCollections = (): Collections => ({
  keys: noRecords(),
  containers: noRecords(),
  instances: noRecords(),
  lifecycle_policies: noRecords(),
  load_balancer_pools: noRecords(),
  routers: noRecords(),
  floating_ips: noRecords(),
  networks: noRecords(),
  k8s_clusters: noRecords(),
  gpu_clusters: noRecords(),
  ai_tasks: noRecords(),
  storage_events: noRecords(),
  tasks: noRecords(),
  prices: noRecords(),
});

export interface RecordReader {
  get<C extends CollectionName>(collection: C, key: string): RecordOf<C> | undefined;
  /**
   * Records of a kind in the order of their keys, which stays the same after a restart.
   * @param prefix beginning of their keys; default: all. Costs the number of the records that it returns
   */
  list<C extends CollectionName>(collection: C, prefix?: string): readonly RecordOf<C>[];
}

/** View of one change: the committed records with its own writes on top. */
export interface Draft extends RecordReader {
  put<C extends CollectionName>(collection: C, record: RecordOf<C>): void;
  remove<C extends CollectionName>(collection: C, record: RecordOf<C>): void;
}

/** The committed records, without the writes of a change that runs. */
export interface CommittedRecords extends RecordReader {
  count(collection: CollectionName): number;
  readonly tasks: TaskView;
  readonly aiTasks: AiTaskView;
}

export interface Records extends CommittedRecords {
  /**
   * Runs the work on a draft, commits its writes as one batch, then makes them visible to readers. Nothing
   * changes if the work throws or the commit fails. Changes must not overlap.
   */
  change<T>(work: (draft: Draft) => T): Promise<T>;
}

/** The writes of one change, only of the kinds that it touches; undefined marks a removed record. */
type Writes = { [C in CollectionName]?: Map<string, RecordOf<C> | undefined> };

const keysWith = (keys: SortedList<string>, prefix: string): readonly string[] => {
  const from = keys.countBefore((key) => key < prefix);
  const to = keys.countBefore((key) => key < prefix || key.startsWith(prefix));
  return keys.slice(from, to);
};

const entriesIn = <R>({ records, keys }: Collection<R>, prefix: string): [string, R][] =>
  keysWith(keys, prefix).flatMap((key): [string, R][] => {
    const record = records.get(key);
    return record === undefined ? [] : [[key, record]];
  });

const listIn = <R>({ records, keys }: Collection<R>, prefix: string): R[] => {
  const found: R[] = [];
  for (const key of keysWith(keys, prefix)) {
    const record = records.get(key);
    if (record !== undefined) found.push(record);
  }
  return found;
};

const set = <R>({ records, keys }: Collection<R>, key: string, record: R | undefined): void => {
  if (record === undefined) {
    if (records.delete(key)) keys.delete(key);
    return;
  }
  if (!records.has(key)) keys.add(key);
  records.set(key, record);
};

/** The records of a kind with the writes of a change on top. */
const listOver = <R>(
  collection: Collection<R>,
  writes: ReadonlyMap<string, R | undefined>,
  prefix: string,
): R[] => {
  const merged = new Map<string, R | undefined>(entriesIn(collection, prefix));
  for (const [key, record] of writes) if (key.startsWith(prefix)) merged.set(key, record);
  return [...merged]
    .sort(([a], [b]) => byText(a, b))
    .flatMap(([, record]) => (record === undefined ? [] : [record]));
};

const createDraft = (committed: Collections) => {
  const writes: Writes = {};
  /** In the order of their first write. */
  const touched: CollectionName[] = [];
  const write = <C extends CollectionName>(
    collection: C,
    key: string,
    record: RecordOf<C> | undefined,
  ): void => {
    if (!writes[collection]) {
      writes[collection] = new Map();
      touched.push(collection);
    }
    writes[collection]?.set(key, record);
  };
  const draft: Draft = {
    get: (collection, key) => {
      const own = writes[collection];
      return own?.has(key) ? own.get(key) : committed[collection].records.get(key);
    },
    list: (collection, prefix = "") => {
      const own = writes[collection];
      return own
        ? listOver(committed[collection], own, prefix)
        : listIn(committed[collection], prefix);
    },
    put: (collection, record) => write(collection, keyOf(collection, record), record),
    remove: (collection, record) => write(collection, keyOf(collection, record), undefined),
  };
  return { draft, writes, touched };
};

type Change = Pick<ReturnType<typeof createDraft>, "touched" | "writes">;

const toEntries = ({ writes, touched }: Change): StoredEntries => {
  const entries = new Map<string, object | null>();
  for (const collection of touched) {
    for (const [key, record] of writes[collection] ?? []) {
      entries.set(`${collection}/${key}`, record ?? null);
    }
  }
  return entries;
};

/** Writes a whole state into a draft: every record that the state lacks is removed. */
export const putState = (draft: Draft, state: State): void => {
  const putAll = <C extends CollectionName>(collection: C) => {
    const records: readonly RecordOf<C>[] = state[collection];
    for (const record of draft.list(collection)) draft.remove(collection, record);
    for (const record of records) draft.put(collection, record);
  };
  for (const collection of COLLECTIONS) putAll(collection);
};

/** All records as a state, each list in the order of its keys. */
export const toState = (records: RecordReader): State =>
  stateSchema.parse(Object.fromEntries(COLLECTIONS.map((name) => [name, records.list(name)])));

interface Indexes {
  readonly tasks: TaskIndex;
  readonly aiTasks: AiTaskIndex;
}

/** Makes the writes of a change visible. */
const merge = (into: Collections, indexes: Indexes, { writes, touched }: Change): void => {
  const copy = <C extends CollectionName>(collection: C) => {
    for (const [key, record] of writes[collection] ?? []) set(into[collection], key, record);
  };
  for (const collection of touched) copy(collection);
  for (const [id, task] of writes.tasks ?? []) {
    if (task) indexes.tasks.note(task);
    else indexes.tasks.forget(id);
  }
  for (const [id, task] of writes.ai_tasks ?? []) {
    if (task) indexes.aiTasks.note(task);
    else indexes.aiTasks.forget(id);
  }
};

const fill = (into: Collections, state: State): void => {
  const putAll = <C extends CollectionName>(collection: C) => {
    const records: readonly RecordOf<C>[] = state[collection];
    for (const record of records) set(into[collection], keyOf(collection, record), record);
  };
  for (const collection of COLLECTIONS) putAll(collection);
};

/**
 * Loads the stored records. Writes the initial state to an empty store first, in one batch.
 * @throws StoredStateError when the stored state is invalid
 */
export const openRecords = async (store: Store, initialState: State): Promise<Records> => {
  const entries = await store.load();
  const committed = emptyCollections();
  const state = entries.size === 0 ? initialState : fromEntries(entries);
  if (entries.size === 0) {
    const first = createDraft(committed);
    putState(first.draft, state);
    await store.commit(toEntries(first));
  }
  fill(committed, state);
  const indexes = {
    tasks: createTaskIndex(state.tasks),
    aiTasks: createAiTaskIndex(state.ai_tasks),
  };

  return {
    get: (collection, key) => committed[collection].records.get(key),
    list: (collection, prefix = "") => listIn(committed[collection], prefix),
    count: (collection) => committed[collection].records.size,
    ...indexes,
    change: async (work) => {
      const change = createDraft(committed);
      const result = work(change.draft);
      if (change.touched.length === 0) return result;
      await store.commit(toEntries(change));
      merge(committed, indexes, change);
      return result;
    },
  };
};
