import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Store } from "../../../lib/service/store.ts";
import { openLevelStore } from "../../../lib/service/store.ts";
import {
  CONTAINER,
  CONTAINER_RECORD,
  EVENT,
  POLICY,
  POOL,
  ROUTERS,
  SUSPENDED,
  startService,
} from "./harness.ts";

let directory: string;
let opened: Store[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-service-"));
  opened = [];
});

afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(directory, { recursive: true });
});

const open = async (name: string): Promise<Store> => {
  const store = await openLevelStore(join(directory, name));
  opened.push(store);
  return store;
};

/** Copies the files of an open store, as a killed process would leave them. */
const openAsAfterKill = async (from: string, to: string): Promise<Store> => {
  await cp(join(directory, from), join(directory, to), { recursive: true });
  await rm(join(directory, to, "LOCK"));
  return open(to);
};

test("every answered change is there after a kill", async () => {
  const { send, stored } = await startService({ store: await open("data") });
  const event = { name: "reaching_used_requests", count: 18_446_744_073_709_551_615n };
  await send("POST", `${SUSPENDED}/resume`);
  await send("PATCH", POLICY, { body: { status: "paused" } });
  await send("PATCH", CONTAINER, { body: { envs: { MODE: "fast" } } });
  await send("PATCH", POOL, { body: { name: "renamed" } });
  await send("POST", ROUTERS, { body: { name: "edge" } });
  await send("POST", EVENT, { body: event });
  const before = await stored();

  const restarted = await startService({ store: await openAsAfterKill("data", "copy") });

  expect(await restarted.stored()).toEqual(before);
  expect((await restarted.send("GET", SUSPENDED)).body.status).toBe("ACTIVE");
  const { reaching_used_requests } = (
    await restarted.send("GET", "/storage/notifications/v1/events")
  ).body;
  expect(reaching_used_requests).toMatchObject([{ count: 18_446_744_073_709_551_615n }]);
});

test("a task that was running at the kill ends after the restart", async () => {
  const { send } = await startService({ store: await open("data") });
  const accepted = await send("PATCH", CONTAINER, { body: { envs: { MODE: "fast" } } });

  const restarted = await startService({ store: await openAsAfterKill("data", "copy") });
  const locked = await restarted.send("PATCH", CONTAINER, { body: {} });
  await restarted.clock.advance(10_000);
  const task = await restarted.send("GET", `/v1/tasks/${accepted.body.tasks[0]}`);

  expect(locked.status).toBe(409);
  expect(task.body.state).toBe("FINISHED");
  expect((await restarted.stored())[CONTAINER_RECORD].envs).toEqual({ MODE: "fast" });
});

test("a refused change writes nothing to the store", async () => {
  const { send, stored } = await startService({ store: await open("data") });
  const before = await stored();

  await send("PATCH", CONTAINER, { body: { timeout: 999 } });
  await send("POST", `${SUSPENDED}-unknown/resume`);

  expect(await stored()).toEqual(before);
});

test("a store with records ignores the initial state", async () => {
  const store = await open("data");
  const first = await startService({ store });
  await first.send("PATCH", POLICY, { body: { name: "kept over the restart" } });

  const second = await startService({ store, state: (builtIn) => ({ ...builtIn, keys: [] }) });

  const policy = await second.send("PATCH", POLICY, { body: {} });
  expect(policy.body.name).toBe("kept over the restart");
});

test("a list has the same order before and after a restart", async () => {
  const store = await open("data");
  const first = await startService({ store });
  for (const bucket_name of ["b", "c", "a"]) {
    await first.send("POST", EVENT, { body: { name: "reaching_used_traffic", bucket_name } });
  }
  const before = await first.send("GET", "/storage/notifications/v1/events");

  const second = await startService({ store });

  expect((await second.send("GET", "/storage/notifications/v1/events")).body).toEqual(before.body);
});

test("each request is one batch, and so is each step of a task", async () => {
  const batches: string[][] = [];
  const store = await open("data");
  const recording: Store = {
    ...store,
    commit: (entries) => {
      batches.push([...entries.keys()].map((key) => key.split("/")[0] ?? "").sort());
      return store.commit(entries);
    },
  };
  const { send, clock } = await startService({ store: recording });
  batches.length = 0;
  await send("PATCH", CONTAINER, { body: { timeout: 5 } });
  await clock.advance(10_000);

  await send("GET", SUSPENDED);

  expect(batches).toEqual([["containers", "tasks"], ["tasks"], ["containers", "tasks"]]);
});

test.each([
  ["an invalid record", "routers/x", '{"id":7}', "routers.0.id: a string, and 12 more"],
  ["an unknown list", "images/x", "{}", "images: unknown field"],
  ["half a record", "routers/x", '{"id"', "routers/x: must be valid JSON"],
])("a store that holds %s is refused at the start", async (_, key, text, problem) => {
  const store = await open("data");
  await store.commit(new Map([[key, text]]));

  await expect(startService({ store })).rejects.toThrow(`stored state is invalid: ${problem}`);
});
