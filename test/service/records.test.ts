import { expect, test } from "vitest";
import { builtInState } from "../../lib/service/built-in-state.ts";
import { openRecords } from "../../lib/service/records.ts";
import { createMemoryStore } from "../../lib/service/store.ts";

test("a change sees its own writes before anyone else does", async () => {
  const records = await openRecords(createMemoryStore(), builtInState());

  const seen = await records.change((draft) => {
    draft.put("regions", { id: 76, name: "renamed" });
    return {
      inside: draft.get("regions", "76")?.name,
      listed: draft.list("regions").map(({ name }) => name),
      outside: records.get("regions", "76")?.name,
    };
  });

  expect(seen).toEqual({
    inside: "renamed",
    listed: ["Luxembourg-3", "renamed"],
    outside: "Luxembourg-2",
  });
  expect(records.get("regions", "76")).toEqual({ id: 76, name: "renamed" });
});

test("a change whose work throws leaves neither the records nor the store changed", async () => {
  const store = createMemoryStore();
  const records = await openRecords(store, builtInState());
  const before = await store.load();

  const failed = records.change((draft) => {
    draft.put("regions", { id: 76, name: "renamed" });
    throw new Error("second thoughts");
  });

  await expect(failed).rejects.toThrow("second thoughts");
  expect(records.get("regions", "76")?.name).toBe("Luxembourg-2");
  expect(await store.load()).toEqual(before);
});

test("a change that cannot be committed is not shown", async () => {
  const store = createMemoryStore();
  const records = await openRecords(store, builtInState());
  store.commit = () => Promise.reject(new Error("disk on fire"));

  const failed = records.change((draft) => draft.put("regions", { id: 76, name: "renamed" }));

  await expect(failed).rejects.toThrow("disk on fire");
  expect(records.get("regions", "76")?.name).toBe("Luxembourg-2");
});

test("containers of one name in different places, and events that differ in one part, are kept apart", async () => {
  const records = await openRecords(createMemoryStore(), builtInState());
  const [container] = records.list("containers");
  const [event] = records.list("storage_events");

  await records.change((draft) => {
    draft.put("containers", { ...container!, region_id: 9 });
    draft.put("storage_events", { ...event!, client_id: 2002 });
  });

  expect(records.list("containers")).toHaveLength(3);
  expect(records.list("storage_events")).toHaveLength(3);
});
