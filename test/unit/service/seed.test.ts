import { expect, test } from "vitest";
import { parseWireJson } from "../../../lib/contract/json.ts";
import { formatSeed, readSeed, SeedError } from "../../../lib/service/seed.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { BUILT_IN_KEY_HASHES, EVENT, startService } from "./harness.ts";

const problemsOf = (text: string): readonly string[] => {
  try {
    readSeed(text);
  } catch (error) {
    if (error instanceof SeedError)
      return error.problems.map(({ path, rule }) => `${path}: ${rule}`);
  }
  throw new Error("the seed was taken");
};

// biome-ignore lint/suspicious/noExplicitAny: tests change records of every shape
const changed = (change: (seed: any) => void): string => {
  const seed = JSON.parse(formatSeed(builtInState()));
  change(seed);
  return JSON.stringify(seed);
};

const plan = (startsAtMs: number, endsAtMs: number) => ({
  startsAtMs,
  endsAtMs,
  work: { kind: "create-router", router: { name: "edge" } },
});

test("a printed state parses as the same state", () => {
  expect(readSeed(formatSeed(builtInState()))).toEqual(builtInState());
});

test("the printed state has every list and no key in plain text", () => {
  const text = formatSeed(builtInState());

  expect(Object.keys(JSON.parse(text))).toEqual([
    "keys",
    "containers",
    "instances",
    "lifecycle_policies",
    "load_balancer_pools",
    "routers",
    "floating_ips",
    "networks",
    "k8s_clusters",
    "gpu_clusters",
    "ai_tasks",
    "storage_events",
    "tasks",
    "prices",
  ]);
  expect(JSON.parse(text).keys.map((key: { sha256: string }) => key.sha256)).toEqual(
    BUILT_IN_KEY_HASHES,
  );
  expect(text).not.toMatch(/5eed0c0de/);
});

test("a limit of a storage event is an exact number in a seed up to 64 bits", async () => {
  const text = formatSeed(builtInState()).replace('"bytes": 500', '"bytes": 18446744073709551615');

  const state = readSeed(text);
  const { send } = await startService({ state: () => state });
  const list = await send("GET", `${EVENT}s`);

  expect(list.body.reaching_used_space[0].bytes).toBe(18_446_744_073_709_551_615n);
  expect(parseWireJson(formatSeed(state))).toMatchObject({
    storage_events: [{ bytes: 18_446_744_073_709_551_615n }, { count: 5 }],
  });
});

test.each([
  ["{", [": must be valid JSON: line 1, column 2"]],
  ['{\n "keys": [x]', [": must be valid JSON: line 2, column 11"]],
  ["[]", [": an object"]],
  [changed((seed) => delete seed.routers), ["routers: required"]],
  [changed((seed) => (seed.vms = [])), ["vms: unknown field"]],
  [changed((seed) => (seed.containers[0].port = 80)), ["containers.0.port: unknown field"]],
  [
    changed((seed) => (seed.keys[0].sha256 = "plain text")),
    ["keys.0.sha256: SHA-256 of a key in lower-case hex"],
  ],
  [
    changed((seed) => (seed.instances[1].status = "SLEEPING")),
    [expect.stringMatching(/^instances\.1\.status: one of ACTIVE, BUILD, /)],
  ],
  [
    changed((seed) => (seed.storage_events[0].bytes = -1)),
    ["storage_events.0.bytes: a whole number from 0 to 18446744073709551615"],
  ],
  [
    changed((seed) => (seed.storage_events[1].count = "18446744073709551616")),
    ["storage_events.1.count: a whole number from 0 to 18446744073709551615"],
  ],
  [
    changed((seed) => Object.assign(seed.containers[0], { timeout: 181, image: "i".repeat(231) })),
    ["containers.0.image: at most 230 characters", "containers.0.timeout: at most 180"],
  ],
  [
    changed((seed) => (seed.load_balancer_pools[0].timeout_client_data = 86_400_001)),
    ["load_balancer_pools.0.timeout_client_data: at most 86400000"],
  ],
  [
    changed((seed) => (seed.keys[1].sha256 = seed.keys[0].sha256)),
    ["keys: two keys have the same sha256"],
  ],
  [
    changed((seed) => (seed.tasks[0].created_on = "yesterday")),
    ["tasks.0.created_on: a time such as 2026-01-31T12:00:00Z"],
  ],
  [
    changed((seed) => (seed.tasks[0].plan = plan(1, 2))),
    ["tasks.0.plan: only a task in state NEW or RUNNING may have a plan"],
  ],
  [
    changed((seed) => Object.assign(seed.tasks[0], { state: "NEW", plan: plan(2, 1) })),
    ["tasks.0.plan.endsAtMs: must not be before startsAtMs"],
  ],
  [
    changed((seed) => Object.assign(seed.tasks[0], { state: "NEW", plan: plan(-1, 1) })),
    ["tasks.0.plan.startsAtMs: at least 0"],
  ],
])("an invalid seed is refused with every invalid field (%#)", (text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test("a duplicate record is refused, because one would silently replace the other", () => {
  const text = changed((seed) => {
    seed.containers.push({ ...seed.containers[0], timeout: 1 });
    seed.storage_events.push({ ...seed.storage_events[0], uuid: "another", bytes: 1 });
  });

  expect(problemsOf(text)).toEqual([
    "containers.2: duplicate of containers.0",
    "storage_events.2: duplicate of storage_events.0",
  ]);
});

test("a seed may omit the internal fields of the service", async () => {
  const text = changed((seed) => {
    for (const container of seed.containers) delete container.task_id;
    for (const event of seed.storage_events) delete event.client_id;
    for (const task of seed.ai_tasks) {
      delete task.client_id;
      delete task.plan;
      delete task.plan_from;
    }
    for (const task of seed.tasks) {
      delete task.client_id;
      delete task.plan;
    }
    for (const list of seed.prices) if (list.starts_at === null) delete list.starts_at;
  });

  const { send } = await startService({ state: () => readSeed(text) });

  expect((await send("GET", `${EVENT}s`)).body.reaching_used_space).toHaveLength(1);
  expect((await send("GET", "/streaming/ai/tasks")).body.count).toBe(12);
  expect((await send("GET", "/cloud/v1/tasks")).body.count).toBe(1);
});

test("a time without a zone is UTC, as in the provider's samples", async () => {
  const text = changed((seed) => (seed.tasks[0].created_on = "2026-05-23T05:07:31"));
  const { send } = await startService({ state: () => readSeed(text) });
  const countSince = async (from: string) =>
    (await send("GET", `/cloud/v1/tasks?from_timestamp=${from}`)).body.count;

  expect(await countSince("2026-05-23T05:07:31Z")).toBe(1);
  expect(await countSince("2026-05-23T05:07:32Z")).toBe(0);
});

test("a large number in an open field is stored and returned exactly", async () => {
  const text = changed((seed) => (seed.ai_tasks[0].task_data.client_id = "LARGE"));
  const seed = text.replace('"LARGE"', "18446744073709551615");
  const store = createMemoryStore();
  await startService({ state: () => readSeed(seed), store });

  const { send } = await startService({ store });
  const { body } = await send("GET", "/streaming/ai/tasks?limit=100");

  const clientIds = body.results.map(
    (task: { task_data: { client_id?: unknown } }) => task.task_data.client_id,
  );
  expect(clientIds).toContain(18_446_744_073_709_551_615n);
});

test("a leading byte order mark, which some editors add, is ignored", () => {
  expect(readSeed(`\ufeff${formatSeed(builtInState())}`)).toEqual(builtInState());
});
