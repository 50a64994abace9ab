import type { Ledger, LedgerItem } from "../../lib/platform/ports/ledger.ts";

/** Maximum size of an item in DynamoDB. DynamoDB also counts attribute names, which are not counted here. */
const MAX_ITEM_BYTES = 400 * 1024;

const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/**
 * A strongly consistent ledger in memory. It passes the same contract suite as the DynamoDB adapter.
 * @param shardOf shard of the due index that a written item's entry goes to; default: 0 for all
 */
export const createMemoryLedger = (shardOf: (key: string) => number = () => 0): Ledger => {
  // Values are stored as JSON, so that no caller shares an object with the store.
  type Stored = Omit<LedgerItem, "value"> & { readonly valueText: string; readonly shard: number };
  const stored = new Map<string, Stored>();

  return {
    async read(key) {
      const found = stored.get(key);
      if (found === undefined) return undefined;
      const { valueText, shard, ...item } = found;
      return { ...item, value: JSON.parse(valueText) };
    },
    async write({ value, ...item }) {
      const valueText = JSON.stringify(value);
      if (Buffer.byteLength(item.key) + Buffer.byteLength(valueText) > MAX_ITEM_BYTES) {
        throw new Error("Item size has exceeded the maximum allowed size");
      }
      const storedVersion = stored.get(item.key)?.version ?? 0;
      if (storedVersion !== item.version - 1) return "conflict";
      stored.set(item.key, { ...item, valueText, shard: shardOf(item.key) });
      return "written";
    },
    list: async (partition, before, limit) =>
      [...stored.values()]
        .flatMap(({ key, listing }) => (listing === undefined ? [] : [{ key, ...listing }]))
        .filter((entry) => entry.partition === partition)
        .filter(({ sort }) => before === undefined || inBytes(sort, before) < 0)
        .sort((a, b) => inBytes(b.sort, a.sort))
        .slice(0, limit),
    listDue: async (until, limit, shard, from = Number.NEGATIVE_INFINITY) =>
      [...stored.values()]
        .filter((item) => shard === undefined || item.shard === shard)
        .flatMap(({ key, dueAt }) => (dueAt === undefined ? [] : [{ key, dueAt }]))
        .filter(({ dueAt }) => dueAt >= from && dueAt <= until)
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit),
  };
};
