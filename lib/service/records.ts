import { formatWireJson, parseWireJson } from "../contract/json.ts";
import { type Problem, problemsOf } from "../contract/problem.ts";
import {
  COLLECTIONS,
  type CollectionName,
  keyOf,
  type RecordOf,
  type State,
  stateSchema,
} from "./state/state.ts";
import type { TaskRecord } from "./state/tasks.ts";
import type { Store } from "./store.ts";

/** The future instants at which a task changes its state, earliest first, in epoch milliseconds. */
export const instantsAhead = ({ state, plan }: TaskRecord): readonly number[] => {
  if (plan === null) return [];
  return state === "NEW" ? [plan.startsAtMs, plan.endsAtMs] : [plan.endsAtMs];
};

const nextInstant = (task: TaskRecord): number =>
  instantsAhead(task)[0] ?? Number.POSITIVE_INFINITY;

export interface TaskIndex {
  unfinished(): readonly TaskRecord[];
  /** Instant of the next state change of any task, in epoch milliseconds; Infinity when all have ended. */
  nextDueAt(): number;
  /** Updates the index. Must be called for every task that is written. */
  note(task: TaskRecord): void;
  /** Removes a task from the index. Must be called for every task that is removed. */
  forget(id: string): void;
}

/** Index of the tasks that have not ended. Without it every request would read all tasks ever run. */
export const createTaskIndex = (tasks: Iterable<TaskRecord>): TaskIndex => {
  const unfinished = new Map<string, TaskRecord>();
  /** The earliest instant of all tasks; undefined when it has to be computed again. */
  let earliest: number | undefined;
  const note = (task: TaskRecord): void => {
    const before = unfinished.get(task.id);
    if (task.plan === null) unfinished.delete(task.id);
    else unfinished.set(task.id, task);
    // The earliest instant can only become later when the task that it belongs to changes.
    if (before && nextInstant(before) === earliest) earliest = undefined;
    if (earliest !== undefined) earliest = Math.min(earliest, nextInstant(task));
  };
  for (const task of tasks) note(task);
  return {
    unfinished: () => [...unfinished.values()],
    nextDueAt: () => {
      earliest ??= [...unfinished.values()]
        .map(nextInstant)
        .reduce((first, instant) => Math.min(first, instant), Number.POSITIVE_INFINITY);
      return earliest;
    },
    note,
    forget: (id) => {
      if (unfinished.delete(id)) earliest = undefined;
    },
  };
};

type Collections = { readonly [C in CollectionName]: Map<string, RecordOf<C>> };

const noRecords = () => ({
  keys: new Map(),
  containers: new Map(),
  instances: new Map(),
  lifecycle_policies: new Map(),
  load_balancer_pools: new Map(),
  routers: new Map(),
  floating_ips: new Map(),
  networks: new Map(),
  k8s_clusters: new Map(),
  gpu_clusters: new Map(),
  ai_tasks: new Map(),
  storage_events: new Map(),
  tasks: new Map(),
  prices: new Map(),
});

export interface RecordReader {
  get<C extends CollectionName>(collection: C, key: string): RecordOf<C> | undefined;
  /** All records of a kind in the order of their keys, which stays the same after a restart. */
  list<C extends CollectionName>(collection: C): readonly RecordOf<C>[];
}

/** View of one change: the committed records with its own writes on top. */
export interface Draft extends RecordReader {
  put<C extends CollectionName>(collection: C, record: RecordOf<C>): void;
  remove<C extends CollectionName>(collection: C, record: RecordOf<C>): void;
}

export interface Records extends RecordReader {
  /**
   * Runs the work on a draft, commits its writes as one batch, then makes them visible to readers. Nothing
   * changes if the work throws or the commit fails. Changes must not overlap.
   */
  change<T>(work: (draft: Draft) => T): Promise<T>;
  readonly tasks: Pick<TaskIndex, "unfinished" | "nextDueAt">;
}

/** The writes of one change; undefined marks a removed record. */
type Writes = { readonly [C in CollectionName]: Map<string, RecordOf<C> | undefined> };

const inKeyOrder = <R>(...layers: readonly ReadonlyMap<string, R | undefined>[]): R[] =>
  [...new Map(layers.flatMap((layer) => [...layer]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, record]) => (record === undefined ? [] : [record]));

/** The stored state is invalid. The message contains the first problem, never a value. */
export class StoredStateError extends Error {
  override readonly name = "StoredStateError";

  constructor([first, ...others]: readonly Problem[]) {
    const more = others.length > 0 ? `, and ${others.length} more` : "";
    super(`stored state is invalid: ${first?.path}: ${first?.rule}${more}`);
  }
}

const parseRecord = (key: string, text: string): unknown => {
  try {
    return parseWireJson(text);
  } catch {
    throw new StoredStateError([{ path: key, rule: "must be valid JSON" }]);
  }
};

/**
 * Parses all stored records.
 * @throws StoredStateError for any invalid record: refusing to start is safer than serving a partial state
 */
const fromEntries = (entries: ReadonlyMap<string, string>): State => {
  const lists = new Map<string, unknown[]>(COLLECTIONS.map((collection) => [collection, []]));
  for (const [key, text] of entries) {
    const [collection = ""] = key.split("/");
    const list = lists.get(collection) ?? [];
    list.push(parseRecord(key, text));
    lists.set(collection, list);
  }
  const parsed = stateSchema.safeParse(Object.fromEntries(lists));
  if (!parsed.success) throw new StoredStateError(problemsOf(parsed.error.issues));
  return parsed.data;
};

const fromState = (state: State): Collections => {
  const collections: Collections = noRecords();
  const putAll = <C extends CollectionName>(collection: C) => {
    const records: readonly RecordOf<C>[] = state[collection];
    for (const record of records) collections[collection].set(keyOf(collection, record), record);
  };
  for (const collection of COLLECTIONS) putAll(collection);
  return collections;
};

const toEntries = (writes: Writes): Map<string, string | null> => {
  const entries = new Map<string, string | null>();
  for (const collection of COLLECTIONS) {
    for (const [key, record] of writes[collection]) {
      entries.set(`${collection}/${key}`, record === undefined ? null : formatWireJson(record));
    }
  }
  return entries;
};

const createDraft = (committed: Collections) => {
  // Created by the first write, because most requests write nothing.
  let writes: Writes | undefined;
  const set = <C extends CollectionName>(
    collection: C,
    key: string,
    record: RecordOf<C> | undefined,
  ): void => {
    writes ??= noRecords();
    writes[collection].set(key, record);
  };
  const draft: Draft = {
    get: (collection, key) =>
      writes?.[collection].has(key) ? writes[collection].get(key) : committed[collection].get(key),
    list: (collection) => inKeyOrder(committed[collection], writes?.[collection] ?? new Map()),
    put: (collection, record) => set(collection, keyOf(collection, record), record),
    remove: (collection, record) => set(collection, keyOf(collection, record), undefined),
  };
  return { draft, writes: () => writes };
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

const merge = (into: Collections, writes: Writes): void => {
  const copy = <C extends CollectionName>(collection: C) => {
    for (const [key, record] of writes[collection]) {
      if (record === undefined) into[collection].delete(key);
      else into[collection].set(key, record);
    }
  };
  for (const collection of COLLECTIONS) copy(collection);
};

/**
 * Loads the stored records. Writes the initial state to an empty store first, in one batch.
 * @throws StoredStateError when the stored state is invalid
 */
export const openRecords = async (store: Store, initialState: State): Promise<Records> => {
  const entries = await store.load();
  const committed = fromState(entries.size === 0 ? initialState : fromEntries(entries));
  if (entries.size === 0) await store.commit(toEntries(committed));
  const tasks = createTaskIndex(committed.tasks.values());

  return {
    get: (collection, key) => committed[collection].get(key),
    list: (collection) => inKeyOrder(committed[collection]),
    tasks,
    change: async (work) => {
      const { draft, writes } = createDraft(committed);
      const result = work(draft);
      const written = writes();
      if (written === undefined) return result;
      await store.commit(toEntries(written));
      merge(committed, written);
      for (const [id, task] of written.tasks) {
        if (task) tasks.note(task);
        else tasks.forget(id);
      }
      return result;
    },
  };
};
