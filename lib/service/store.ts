/** Where the service keeps its records: text by key. */
export interface Store {
  /** Everything ever committed. */
  load(): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes all entries, null removing one, or, when it rejects or the process dies before it
   * resolves, possibly none.
   */
  commit(entries: ReadonlyMap<string, string | null>): Promise<void>;
  close(): Promise<void>;
}

/** Forgets everything when the process ends. */
export const createMemoryStore = (): Store => {
  const committed = new Map<string, string>();
  return {
    load: async () => new Map(committed),
    commit: async (entries) => {
      for (const [key, text] of entries) {
        if (text === null) committed.delete(key);
        else committed.set(key, text);
      }
    },
    close: async () => {},
  };
};
