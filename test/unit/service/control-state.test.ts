import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatSeed, readSeed } from "../../../lib/service/seed.ts";
import { builtInState, type State } from "../../../lib/service/state/state.ts";
import { createMemoryStore, openLevelStore, type Store } from "../../../lib/service/store.ts";
import { buildProgram } from "../../support/killable-child.ts";
import { closeAfterEach, startControlled, TASK_DURATION_MS } from "./control-harness.ts";
import { CONTAINER, EVENT, POLICY, POOL, ROUTERS, SUSPENDED, startService } from "./harness.ts";

closeAfterEach();

/** The same runs every time. To search for bugs, `FC_SEED` selects others and `FC_TIMES` sets their number. */
const seed = Number(process.env.FC_SEED ?? 20260101);
const numRuns = 10 * Number(process.env.FC_TIMES ?? 1);

type Send = Awaited<ReturnType<typeof startControlled>>["send"];

/** Requests that change every kind of record that can change, some of them refused. */
const REQUESTS: readonly ((send: Send) => ReturnType<Send>)[] = [
  (send) => send("POST", `${SUSPENDED}/resume`),
  (send) => send("PATCH", POLICY, { body: { status: "paused" } }),
  (send) => send("PATCH", CONTAINER, { body: { envs: { MODE: "fast" } } }),
  (send) => send("PATCH", CONTAINER, { body: { image: "registry.invalid/app:1" } }),
  (send) => send("PATCH", POOL, { body: { name: "renamed" } }),
  (send) => send("POST", ROUTERS, { body: { name: "edge" } }),
  (send) =>
    send("POST", EVENT, {
      body: { name: "reaching_used_requests", count: 18_446_744_073_709_551_615n },
    }),
  (send) => send("DELETE", EVENT, { body: { name: "reaching_used_requests" } }),
  (send) => send("GET", "/cloud/v1/tasks"),
];

const requests = fc.array(fc.nat({ max: REQUESTS.length - 1 }), { minLength: 1, maxLength: 8 });
const waitsMs = fc.constantFrom(0, 1_000, 3_000, TASK_DURATION_MS);
const changes = fc.array(fc.tuple(fc.nat({ max: REQUESTS.length - 1 }), waitsMs), {
  minLength: 1,
  maxLength: 8,
});

const stateText = async ({ control }: Awaited<ReturnType<typeof startControlled>>) =>
  formatSeed(readSeed(JSON.stringify((await control("GET", "/state")).body, exactly)));

/** JSON for `readSeed`, which takes 64-bit limits as text too. */
const exactly = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value;

test("an exported state is imported elsewhere without a difference", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (steps) => {
      const one = await startControlled();
      const other = await startControlled();
      for (const [index, waitMs] of steps) {
        await REQUESTS[index]?.(one.send);
        one.service.clock.advance(waitMs);
        other.service.clock.advance(waitMs);
      }
      const exported = await one.service.control.state.export();

      const answer = await other.importState(exported);
      const imported = await stateText(other);
      one.service.clock.advance(TASK_DURATION_MS);
      other.service.clock.advance(TASK_DURATION_MS);

      expect(answer.status).toBe(204);
      expect(imported).toBe(formatSeed(exported));
      // Tasks of the imported state end as those of the original, down to the ids of what they create.
      expect((await other.send("GET", "/cloud/v1/tasks")).body.count).toBe(
        (await one.send("GET", "/cloud/v1/tasks")).body.count,
      );
      expect([one.faults, other.faults]).toEqual([[], []]);
    }),
    { seed, numRuns },
  );
});

test("restore and reset give the state of the snapshot, and the initial one, whatever happened", async () => {
  await fc.assert(
    fc.asyncProperty(requests, requests, async (before, after) => {
      const run = await startControlled();
      await run.control("POST", "/clock/freeze");
      const initial = await stateText(run);
      for (const index of before) await REQUESTS[index]?.(run.send);
      const saved = await stateText(run);
      await run.control("PUT", "/snapshots/one");
      run.service.clock.advance(TASK_DURATION_MS);
      for (const index of after) await REQUESTS[index]?.(run.send);

      await run.control("POST", "/state/reset");
      const reset = await stateText(run);
      await run.control("POST", "/snapshots/one/restore");
      // Tasks of the snapshot have passed their ends by now. Their plans are those of the snapshot.
      const { tasks: _, ...restored } = JSON.parse(await stateText(run));
      const { tasks: __, ...wanted } = JSON.parse(saved);

      expect(withoutStarts(reset)).toEqual(withoutStarts(initial));
      expect(restored.storage_events).toEqual(wanted.storage_events);
      expect(restored.lifecycle_policies).toEqual(wanted.lifecycle_policies);
      expect(run.faults).toEqual([]);
    }),
    { seed, numRuns },
  );
});

/** A reset starts the plans of AI tasks again, at the time of the reset. */
const withoutStarts = (text: string): unknown =>
  JSON.parse(text, (name, value) => (name === "plan_from" ? undefined : value));

test("a snapshot restored at its own time is the same state", async () => {
  const run = await startControlled();
  await run.control("POST", "/clock/freeze");
  for (const request of REQUESTS) await request(run.send);
  const saved = await stateText(run);
  await run.control("PUT", "/snapshots/one");
  await run.send("PATCH", POLICY, { body: { name: "changed" } });
  const changed = await stateText(run);
  await run.control("POST", "/snapshots/one/restore");

  expect(changed).not.toBe(saved);
  expect(await stateText(run)).toBe(saved);
  expect((await run.control("GET", "/snapshots")).body).toEqual([
    { name: "one", savedAt: "2026-01-01T00:00:00.000Z", records: expect.any(Number) },
  ]);
});

test("there are at most 50 snapshots; a saved name is replaced", async () => {
  const { control } = await startControlled();
  for (let n = 1; n <= 50; n += 1) await control("PUT", `/snapshots/s${n}`);

  const tooMany = await control("PUT", "/snapshots/s51");
  const again = await control("PUT", "/snapshots/s50");
  await control("DELETE", "/snapshots/s1");

  expect([tooMany.status, tooMany.body.message]).toEqual([
    409,
    "there are 50 snapshots already; delete one",
  ]);
  expect(again.status).toBe(200);
  expect((await control("PUT", "/snapshots/s51")).status).toBe(200);
});

test("keys of an imported state count from the next request on", async () => {
  const { send, importState, control } = await startControlled();
  const state = builtInState();

  await importState({ ...state, keys: state.keys.map((key) => ({ ...key, revoked: true })) });
  const revoked = await send("GET", POLICY);
  await control("POST", "/state/reset");

  expect(revoked.status).toBe(401);
  expect((await send("GET", POLICY)).status).toBe(200);
});

/** A state that shows which one it is in two kinds of records. */
const markedState = (mark: string): State => {
  const state = builtInState();
  return {
    ...state,
    lifecycle_policies: state.lifecycle_policies.map((policy) => ({ ...policy, name: mark })),
    load_balancer_pools: state.load_balancer_pools.map((pool) => ({ ...pool, name: mark })),
    tasks: [],
  };
};

test("requests beside imports and resets see one whole state each", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("import a", "import b", "reset", "change", "read"), {
        minLength: 4,
        maxLength: 30,
      }),
      async (acts) => {
        const run = await startControlled({ initialState: markedState("initial") });
        const act = async (name: string) => {
          if (name === "reset") return run.control("POST", "/state/reset");
          if (name === "import a") return run.importState(markedState("a"));
          if (name === "import b") return run.importState(markedState("b"));
          if (name === "change") return run.send("PATCH", CONTAINER, { body: { timeout: 5 } });
          return run.control("GET", "/state");
        };

        const answers = await Promise.all(acts.map(act));
        const last = await run.control("GET", "/state");

        expect(run.faults).toEqual([]);
        for (const { status } of answers) expect([200, 204, 409]).toContain(status);
        for (const { body } of [...answers, last].filter((answer) => answer.body?.keys)) {
          const names = [...body.lifecycle_policies, ...body.load_balancer_pools].map(
            ({ name }: { name: string }) => name,
          );
          expect(new Set(names).size).toBe(1);
          // A lock and its task come and go together.
          const locks = body.containers.flatMap(
            ({ task_id }: { task_id: string | null }) => task_id ?? [],
          );
          const open = body.tasks.filter(({ plan }: { plan: unknown }) => plan !== null);
          expect(locks).toEqual(open.map(({ id }: { id: string }) => id));
        }
      },
    ),
    { seed, numRuns },
  );
});

test("a task of the replaced state does nothing at its end", async () => {
  const { send, control, service, faults } = await startControlled();
  await send("PATCH", CONTAINER, { body: { timeout: 9 } });
  await control("POST", "/state/reset");
  service.clock.advance(TASK_DURATION_MS);

  expect((await send("GET", CONTAINER)).body).toMatchObject({ task_id: null, timeout: 120 });
  expect((await send("PATCH", CONTAINER, { body: { timeout: 5 } })).status).toBe(200);
  expect(faults).toEqual([]);
});

test("an import is one batch, and so are a restore and a reset", async () => {
  const memory = createMemoryStore();
  let batches = 0;
  const commit: Store["commit"] = (entries) => {
    batches += 1;
    return memory.commit(entries);
  };
  const run = await startControlled({ store: { ...memory, commit } });
  const countOf = async (act: () => Promise<unknown>): Promise<number> => {
    batches = 0;
    await act();
    return batches;
  };
  await run.control("PUT", "/snapshots/one");

  expect([
    await countOf(() => run.importState(markedState("a"))),
    await countOf(() => run.control("POST", "/snapshots/one/restore")),
    await countOf(() => run.control("POST", "/state/reset")),
  ]).toEqual([1, 1, 1]);
});

test("a kill amid imports leaves one whole state", async () => {
  const program = await buildProgram("test/unit/service/import-program.ts");
  const directory = await mkdtemp(join(tmpdir(), "skyhook-import-"));
  try {
    // Odd numbers of lines end at the beginning of an import.
    for (const count of [1, 2, 9, 21]) {
      const folder = join(directory, String(count));
      const lines = await program.runUntilKilled([folder], count);
      const answered = lines.filter((line) => /^\d+$/.test(line)).at(-1) ?? "0";
      const store = await openLevelStore(folder);
      const { stored } = await startService({ store });
      const records = Object.entries(await stored());
      const marks = records
        .filter(([key]) => /^(lifecycle_policies|load_balancer_pools|routers)\//.test(key))
        .map(([, { name }]) => name);
      await store.close();

      // The last answered import, or one that began after it.
      expect(new Set(marks).size).toBe(1);
      expect(marks.length).toBeGreaterThan(100);
      expect(Number(marks[0])).toBeGreaterThanOrEqual(Number(answered));
    }
  } finally {
    await program.remove();
    await rm(directory, { recursive: true });
  }
});
