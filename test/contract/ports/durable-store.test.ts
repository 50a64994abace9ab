import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { DurableStore } from "../../../lib/local/durable-store.ts";
import { openLevelStore } from "../../../lib/local/durable-store.ts";
import { type ReopenableStore, storeKinds } from "../../support/durable-stores.ts";

describe.each(storeKinds)("a durable store $storeName", ({ createStore }) => {
  let reopenable: ReopenableStore;
  let store: DurableStore;
  beforeEach(async () => {
    reopenable = await createStore();
    const { remove } = reopenable;
    onTestFinished(remove);
    store = await reopenable.open();
  });

  test("loads all entries that were not deleted, in key order, after it is opened again", async () => {
    const map = store.map("queue");
    await map.write([
      { kind: "put", key: "c", value: { number: 3 } },
      { kind: "put", key: "a", value: "old" },
      { kind: "put", key: "b", value: [null, true] },
    ]);
    await map.write([
      { kind: "delete", key: "c" },
      { kind: "put", key: "a", value: "new" },
    ]);

    store = await reopenable.open();

    expect(await store.map("queue").load()).toEqual([
      ["a", "new"],
      ["b", [null, true]],
    ]);
  });

  test("separates maps of different names", async () => {
    await store.map("queue").write([{ kind: "put", key: "a", value: 1 }]);
    await store.map("queue2").write([{ kind: "put", key: "a", value: 2 }]);

    expect(await store.map("queue").load()).toEqual([["a", 1]]);
    expect(await store.map("queue2").load()).toEqual([["a", 2]]);
    expect(await store.map("bus").load()).toEqual([]);
  });

  test("does not change when the stored object changes", async () => {
    const value = { state: "before" };
    await store.map("queue").write([{ kind: "put", key: "a", value }]);

    value.state = "after";

    expect(await store.map("queue").load()).toEqual([["a", { state: "before" }]]);
  });
});

test("only one process at a time can open a LevelDB folder", async () => {
  const directory = await mkdtemp(join(tmpdir(), "skyhook-store-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = await openLevelStore({ directory, failing: new AbortController() });

  await expect(openLevelStore({ directory, failing: new AbortController() })).rejects.toMatchObject(
    {
      code: "LEVEL_DATABASE_NOT_OPEN",
      cause: { code: "LEVEL_LOCKED" },
    },
  );

  await store.close();
});
