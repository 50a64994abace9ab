import { type CollectionName, type RecordOf, type State, stateSchema } from "./state.ts";
import type { Store } from "./store.ts";

/** What each record is found by. */
const KEY_OF: { readonly [C in CollectionName]: (record: RecordOf<C>) => string } = {
  keys: ({ id }) => id,
  regions: ({ id }) => String(id),
  containers: (container) => containerKey(container),
  instances: ({ id }) => id,
  lifecycle_policies: ({ id }) => String(id),
  load_balancer_pools: ({ id }) => id,
  routers: ({ id }) => id,
  networks: ({ id }) => id,
  storage_events: (event) => storageEventKey(event),
  tasks: ({ id }) => id,
  images: ({ reference }) => reference,
  secrets: ({ id }) => id,
};

/** A container's name is its only identifier, within its project and region. */
export const containerKey = (
  container: Pick<RecordOf<"containers">, "project_id" | "region_id" | "name">,
): string => JSON.stringify([container.project_id, container.region_id, container.name]);

/** An event's identity is client, name, storage and bucket; the uuid is only a label. */
export const storageEventKey = (
  event: Pick<RecordOf<"storage_events">, "client_id" | "name"> & {
    readonly storage_name?: string | undefined;
    readonly bucket_name?: string | undefined;
  },
): string =>
  JSON.stringify([
    event.client_id,
    event.name,
    event.storage_name ?? null,
    event.bucket_name ?? null,
  ]);

type Collections = { readonly [C in CollectionName]: Map<string, RecordOf<C>> };

const noRecords = (): Collections => ({
  keys: new Map(),
  regions: new Map(),
  containers: new Map(),
  instances: new Map(),
  lifecycle_policies: new Map(),
  load_balancer_pools: new Map(),
  routers: new Map(),
  networks: new Map(),
  storage_events: new Map(),
  tasks: new Map(),
  images: new Map(),
  secrets: new Map(),
});

const collectionNameSchema = stateSchema.keyof();
const COLLECTIONS = collectionNameSchema.options;

export interface RecordReader {
  get<C extends CollectionName>(collection: C, key: string): RecordOf<C> | undefined;
  /** All records of a kind in the order of their keys, which a restart does not change. */
  list<C extends CollectionName>(collection: C): readonly RecordOf<C>[];
}

/** The records as one change sees them: its own writes over what is committed. */
export interface Draft extends RecordReader {
  put<C extends CollectionName>(collection: C, record: RecordOf<C>): void;
}

export interface Records extends RecordReader {
  /**
   * Runs the work on a draft, commits everything it put as one batch, then shows it to readers. When
   * the work throws or the commit fails, nothing has changed. Changes must not overlap: run one at a time.
   */
  change<T>(work: (draft: Draft) => T): Promise<T>;
}

const inKeyOrder = <R>(...layers: readonly ReadonlyMap<string, R>[]): R[] =>
  [...new Map(layers.flatMap((layer) => [...layer]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, record]) => record);

const put = <C extends CollectionName>(into: Collections, collection: C, record: RecordOf<C>) => {
  into[collection].set(KEY_OF[collection](record), record);
};

const createDraft = (committed: Collections, written: Collections): Draft => ({
  get: (collection, key) => written[collection].get(key) ?? committed[collection].get(key),
  list: (collection) => inKeyOrder(committed[collection], written[collection]),
  put: (collection, record) => put(written, collection, record),
});

const merge = (into: Collections, written: Collections): void => {
  const copy = <C extends CollectionName>(collection: C) => {
    for (const [key, record] of written[collection]) into[collection].set(key, record);
  };
  for (const collection of COLLECTIONS) copy(collection);
};

const toEntries = (written: Collections): Map<string, string> =>
  new Map(
    COLLECTIONS.flatMap((collection) =>
      [...written[collection]].map(([key, record]): [string, string] => [
        `${collection}/${key}`,
        JSON.stringify(record),
      ]),
    ),
  );

/** @throws ZodError when what was stored is not a state: better stop than serve half a world */
const fromEntries = (entries: ReadonlyMap<string, string>): State => {
  const lists = new Map<string, unknown[]>(COLLECTIONS.map((collection) => [collection, []]));
  for (const [key, text] of entries) {
    const collection = collectionNameSchema.parse(key.split("/")[0]);
    lists.get(collection)?.push(JSON.parse(text));
  }
  return stateSchema.parse(Object.fromEntries(lists));
};

const fromState = (state: State): Collections => {
  const collections = noRecords();
  const putAll = <C extends CollectionName>(collection: C) => {
    const records: readonly RecordOf<C>[] = state[collection];
    for (const record of records) put(collections, collection, record);
  };
  for (const collection of COLLECTIONS) putAll(collection);
  return collections;
};

/** Opens the stored records; an empty store is first filled with the initial state, in one batch. */
export const openRecords = async (store: Store, initialState: State): Promise<Records> => {
  const entries = await store.load();
  const committed = fromState(entries.size === 0 ? initialState : fromEntries(entries));
  if (entries.size === 0) await store.commit(toEntries(committed));

  return {
    get: (collection, key) => committed[collection].get(key),
    list: (collection) => inKeyOrder(committed[collection]),
    change: async (work) => {
      const written = noRecords();
      const result = work(createDraft(committed, written));
      const changes = toEntries(written);
      if (changes.size > 0) await store.commit(changes);
      merge(committed, written);
      return result;
    },
  };
};
