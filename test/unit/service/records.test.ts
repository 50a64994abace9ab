import { expect, test } from "vitest";
import { openRecords } from "../../../lib/service/records.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import type { TaskRecord } from "../../../lib/service/state/tasks.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";

const ROUTER = "da5b9588-cecc-4111-a318-3ad04da05900";

test("a change sees its own writes before anyone else does", async () => {
  const records = await openRecords(createMemoryStore(), builtInState());

  const seen = await records.change((draft) => {
    draft.put("routers", { ...draft.get("routers", ROUTER)!, name: "renamed" });
    return {
      inside: draft.get("routers", ROUTER)?.name,
      listed: draft.list("routers").map(({ name }) => name),
      outside: records.get("routers", ROUTER)?.name,
    };
  });

  expect(seen).toEqual({
    inside: "renamed",
    listed: ["renamed"],
    outside: "my_wonderful_router",
  });
  expect(records.get("routers", ROUTER)?.name).toBe("renamed");
});

test("a change that throws leaves neither the records nor the store changed", async () => {
  const store = createMemoryStore();
  const records = await openRecords(store, builtInState());
  const before = await store.load();

  const failed = records.change((draft) => {
    draft.put("routers", { ...draft.get("routers", ROUTER)!, name: "renamed" });
    throw new Error("second thoughts");
  });

  await expect(failed).rejects.toThrow("second thoughts");
  expect(records.get("routers", ROUTER)?.name).toBe("my_wonderful_router");
  expect(await store.load()).toEqual(before);
});

test("a change that cannot be committed stays invisible", async () => {
  const store = createMemoryStore();
  const records = await openRecords(store, builtInState());
  store.commit = () => Promise.reject(new Error("disk on fire"));

  const failed = records.change((draft) =>
    draft.put("routers", { ...draft.get("routers", ROUTER)!, name: "renamed" }),
  );

  await expect(failed).rejects.toThrow("disk on fire");
  expect(records.get("routers", ROUTER)?.name).toBe("my_wonderful_router");
});

test("containers of the same name in different locations, and events that differ in one part, are separate records", async () => {
  const records = await openRecords(createMemoryStore(), builtInState());
  const [container] = records.list("containers");
  const [event] = records.list("storage_events");

  await records.change((draft) => {
    draft.put("containers", { ...container!, region_id: 9 });
    draft.put("storage_events", { ...event!, client_id: 2 });
  });

  expect(records.list("containers")).toHaveLength(3);
  expect(records.list("storage_events")).toHaveLength(3);
});

test("a removed record is gone for readers, for the change itself and after a restart", async () => {
  const store = createMemoryStore();
  const records = await openRecords(store, builtInState());
  const [event] = records.list("storage_events");

  const left = await records.change((draft) => {
    draft.remove("storage_events", event!);
    return draft.list("storage_events").length;
  });
  const reopened = await openRecords(store, builtInState());

  expect([left, records.list("storage_events").length]).toEqual([1, 1]);
  expect(reopened.list("storage_events")).toEqual(records.list("storage_events"));
});

test("a removed task is due no more", async () => {
  const [task] = builtInState().tasks;
  const plan: TaskRecord["plan"] = {
    startsAtMs: 1,
    endsAtMs: 2,
    work: { kind: "create-router", router: { name: "edge", interfaces: [] } },
  };
  const running: TaskRecord = { ...task!, state: "RUNNING", plan };
  const records = await openRecords(createMemoryStore(), { ...builtInState(), tasks: [running] });
  const before = records.tasks.nextDueAt();

  await records.change((draft) => draft.remove("tasks", running));

  expect(before).toBe(2);
  expect([records.tasks.nextDueAt(), records.tasks.nextDue()]).toEqual([
    Number.POSITIVE_INFINITY,
    undefined,
  ]);
});
