import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataDirectory } from "../../../lib/local/data-directory.ts";
import { openProvider, type Provider } from "../../../lib/local/provider.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { createExchange } from "../../support/http-exchange.ts";
import { silentLog } from "../../support/logs.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { CONTAINER, EVENT, POLICY, POOL, ROUTERS, SUSPENDED } from "./harness.ts";

/**
 * A folder that `skyhook service --data` of commit 49c196d wrote, without its files LOG and LOCK. Its run resumed an
 * instance, paused a policy, changed a container, created a router and two storage events; 15 minutes later it changed
 * a pool with a task that is still NEW.
 */
const EARLIER = fileURLToPath(new URL("./earlier-data", import.meta.url));
/** The last request of that run came 40 s before. */
const LATER = Date.UTC(2026, 10, 25, 17, 16, 12);
const TASK_MS = 600_000;
const EVENTS = "/storage/notifications/v1/events";
const POOL_TASK = "01a213a6-db03-7160-90b8-e41347b94fb6";

let directory: string;
let providers: Provider[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-earlier-"));
  await cp(EARLIER, directory, { recursive: true });
  providers = [];
});

afterEach(async () => {
  for (const provider of providers) await provider.close();
  await rm(directory, { recursive: true });
});

/** Opens the folder as `skyhook service --data` does. */
const open = async (at: number) => {
  const random = createSeededRandom(at);
  const clock = createVirtualClock(at);
  const data = await openDataDirectory(directory, random);
  const provider = await openProvider(
    { kind: "embedded", port: 0, taskDurationMs: TASK_MS },
    { clock, random, log: silentLog, data, failing: new AbortController() },
  );
  providers.push(provider);
  const { baseUrl, builtInKey = "" } = provider;
  return { baseUrl, clock, send: createExchange(fetch, baseUrl, builtInKey) };
};

const closeAll = async () => {
  for (const provider of providers.splice(0)) await provider.close();
};

test("a folder of an earlier version has all that was changed", async () => {
  const { baseUrl, send } = await open(LATER);
  const published = createExchange(fetch, baseUrl, BUILT_IN_API_KEYS.first);

  const read = async (path: string) => (await send("GET", path)).body;
  expect((await read(SUSPENDED)).status).toBe("ACTIVE");
  expect(await read(POLICY)).toMatchObject({ name: "kept", status: "paused" });
  expect((await read(CONTAINER)).envs).toEqual({ MODE: "fast" });
  // The newest first; the oldest is of the built-in state.
  const tasks = await read("/cloud/v1/tasks");
  expect(tasks.results.map(({ state }: { state: string }) => state)).toEqual([
    "NEW",
    "FINISHED",
    "FINISHED",
    "FINISHED",
  ]);
  const [, { created_resources }] = tasks.results;
  expect(await read(`${ROUTERS}/${created_resources.routers[0]}`)).toMatchObject({ name: "edge" });
  const events = await read(EVENTS);
  expect(events.reaching_used_requests).toMatchObject([{ count: 18_446_744_073_709_551_615n }]);
  expect(events.reaching_used_traffic).toMatchObject([{ bucket_name: "b", count: 5 }]);
  expect((await published("GET", POLICY)).status).toBe(401);
});

test("the task of an earlier version ends, and the folder takes new changes", async () => {
  const first = await open(LATER);
  const locked = await first.send("PATCH", POOL, { body: { name: "again" } });
  await first.clock.advance(TASK_MS);
  const task = await first.send("GET", `/v1/tasks/${POOL_TASK}`);
  await first.send("POST", EVENT, { body: { name: "reaching_used_space", bytes: 7 } });
  const before = await first.send("GET", EVENTS);
  await closeAll();

  const second = await open(LATER + TASK_MS);

  expect(locked.status).toBe(409);
  expect(task.body.state).toBe("FINISHED");
  expect((await second.send("GET", POOL)).body.name).toBe("renamed");
  expect((await second.send("GET", EVENTS)).body).toEqual(before.body);
  expect(before.body.reaching_used_space).toContainEqual(expect.objectContaining({ bytes: 7 }));
});
