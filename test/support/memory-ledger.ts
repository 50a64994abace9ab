import type { Ledger, LedgerItem } from "../../lib/ports/ledger.ts";

/** A ledger in memory, at once consistent. It passes the same contract suite as the one on DynamoDB. */
export const createMemoryLedger = (): Ledger => {
  // The value is kept as text, so that nobody shares an object with what is stored.
  const stored = new Map<string, Omit<LedgerItem, "value"> & { readonly valueText: string }>();

  return {
    async read(key) {
      const found = stored.get(key);
      if (found === undefined) return undefined;
      const { valueText, ...item } = found;
      return { ...item, value: JSON.parse(valueText) };
    },
    async write({ value, ...item }) {
      const storedVersion = stored.get(item.key)?.version ?? 0;
      if (storedVersion !== item.version - 1) return "conflict";
      stored.set(item.key, { ...item, valueText: JSON.stringify(value) });
      return "written";
    },
    listDue: async (until, limit) =>
      [...stored.values()]
        .flatMap(({ key, dueAt }) => (dueAt === undefined ? [] : [{ key, dueAt }]))
        .filter(({ dueAt }) => dueAt <= until)
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit),
  };
};
