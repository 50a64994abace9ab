import type { DurableMap, DurableStore } from "./durable-map.ts";

const createMemoryMap = (): DurableMap => {
  // Kept as text, so that nobody shares an object with what is stored, just as on disk.
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

/** Maps that live as long as this store: adapters may be opened on it again, another process may not. */
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
