import {
  type DueEntry,
  type Ledger,
  type LedgerItem,
  type ListEntry,
  MAX_SHARDS,
} from "../../../lib/platform/ports/ledger.ts";

/** Due entries are kept in groups of this length, so that a query sorts only what it returns. */
const GROUP_MS = 1_000;

/** Due entries in the order of time. A change costs the same however many there are. */
const createDueIndex = () => {
  const groups = new Map<number, Map<string, number>>();
  /** Numbers of the groups, ascending: one for each second with an entry. */
  const order: number[] = [];
  const groupOf = (dueAt: number): number => Math.floor(dueAt / GROUP_MS);

  const placeOf = (group: number): number => {
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[middle] ?? Number.POSITIVE_INFINITY) < group) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    add(key: string, dueAt: number): void {
      const number = groupOf(dueAt);
      const found = groups.get(number);
      if (found) {
        found.set(key, dueAt);
        return;
      }
      groups.set(number, new Map([[key, dueAt]]));
      order.splice(placeOf(number), 0, number);
    },
    remove(key: string, dueAt: number): void {
      const number = groupOf(dueAt);
      const group = groups.get(number);
      group?.delete(key);
      if (group?.size !== 0) return;
      groups.delete(number);
      order.splice(placeOf(number), 1);
    },
    list(until: number, limit: number, from: number): readonly DueEntry[] {
      const listed: DueEntry[] = [];
      for (const number of order.slice(placeOf(groupOf(from)))) {
        if (listed.length >= limit || number > groupOf(until)) break;
        const entries = [...(groups.get(number) ?? [])].map(([key, dueAt]) => ({ key, dueAt }));
        listed.push(
          ...entries
            .filter(({ dueAt }) => dueAt >= from && dueAt <= until)
            .sort((a, b) => a.dueAt - b.dueAt),
        );
      }
      return listed.slice(0, limit);
    },
  };
};

type Stored = Omit<LedgerItem, "value"> & { readonly text: string };

/**
 * A ledger in memory for many items: reads, writes and due queries take the same time however many commands have
 * ended. It has no list, which commands do not read.
 * @param shardOf shard of the due index that an item's entry is in, by its key; default: 0 for all
 */
export const createLargeLedger = (shardOf: (key: string) => number = () => 0): Ledger => {
  // Values are JSON text, so that no caller shares an object with the store.
  const items = new Map<string, Stored>();
  const shards = Array.from({ length: MAX_SHARDS }, createDueIndex);
  return {
    async read(key) {
      const found = items.get(key);
      if (found === undefined) return undefined;
      const { text, ...item } = found;
      return { ...item, value: JSON.parse(text) };
    },
    async write({ value, ...item }) {
      const before = items.get(item.key);
      if ((before?.version ?? 0) !== item.version - 1) return "conflict";
      const due = shards[shardOf(item.key)];
      if (before?.dueAt !== undefined) due?.remove(item.key, before.dueAt);
      if (item.dueAt !== undefined) due?.add(item.key, item.dueAt);
      items.set(item.key, { ...item, text: JSON.stringify(value) });
      return "written";
    },
    listDue: async (until, limit, shard = 0, from = 0) =>
      shards[shard]?.list(until, limit, from) ?? [],
    list: (): Promise<readonly ListEntry[]> =>
      Promise.reject(new Error("no function reads the list")),
  };
};
