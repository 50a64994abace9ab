import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DurableStore } from "../../lib/local/durable-store.ts";
import { createMemoryStore, openLevelStore } from "../../lib/local/durable-store.ts";

/** A store that a test can open, abandon like a killed process, and open again. */
export interface ReopenableStore {
  open(): Promise<DurableStore>;
  remove(): Promise<void>;
}

const inMemory = async (): Promise<ReopenableStore> => {
  const store = createMemoryStore();
  return { open: async () => store, remove: async () => undefined };
};

const onLevelDb = async (): Promise<ReopenableStore> => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-store-"));
  let opened: DurableStore | undefined;
  return {
    async open() {
      await opened?.close();
      opened = await openLevelStore({ directory, failing: new AbortController() });
      return opened;
    },
    async remove() {
      await opened?.close();
      await rm(directory, { recursive: true });
    },
  };
};

export const storeKinds = [
  { storeName: "in memory", createStore: inMemory },
  { storeName: "on LevelDB", createStore: onLevelDb },
] as const;
