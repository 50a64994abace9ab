import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService } from "../../lib/service/service.ts";
import { BUILT_IN_API_KEYS } from "../../lib/service/state/keys.ts";
import { builtInState, type State } from "../../lib/service/state/state.ts";
import type { TaskRecord } from "../../lib/service/state/tasks.ts";
import { createMemoryStore, openLevelStore, type Store } from "../../lib/service/store.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

/*
 * Measures how the CPU time of the service grows with the number of its records and open tasks, in this process. An
 * exponent of 1 is linear, 0 is constant.
 */

const SIZES = [1_000, 10_000, 100_000] as const;

const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** CPU time of a run of the work, µs: the median of some runs. */
const microsOf = async (runs: number, work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    globalThis.gc?.();
    const before = cpuMicros();
    await work();
    times.push(cpuMicros() - before);
  }
  return times.toSorted((a, b) => a - b)[runs >> 1] ?? Number.NaN;
};

const idOf = (n: number): string => `01c13f2c-5a00-7000-8000-${String(n).padStart(12, "0")}`;

/** A task that is created in millisecond `n`. An open one starts `n` ms after the start of the clock, plus one. */
const taskOf = (builtIn: TaskRecord, n: number, startMs: number, isOpen: boolean): TaskRecord => ({
  ...builtIn,
  id: idOf(n),
  created_on: new Date(Date.UTC(2025, 10, 3) + n).toISOString(),
  ...(isOpen && {
    state: "NEW",
    finished_on: null,
    created_resources: null,
    plan: {
      startsAtMs: startMs + n + 1,
      endsAtMs: startMs + 1e9 + n,
      work: { kind: "create-router", router: { name: "edge" } },
    },
  }),
});

const stateOf = (size: number, startMs: number, hasOpenTasks: boolean): State => {
  const state = builtInState();
  const [task] = state.tasks;
  const [event] = state.storage_events;
  const [aiTask] = state.ai_tasks;
  if (!task || !event || !aiTask) throw new Error("the built-in state lacks a record");
  const numbers = Array.from({ length: size }, (_, n) => n);
  return {
    ...state,
    tasks: numbers.map((n) => taskOf(task, n, startMs, hasOpenTasks)),
    storage_events: numbers.map((n) => ({
      ...event,
      uuid: idOf(n),
      bucket_name: `bucket-${String(n).padStart(6, "0")}`,
    })),
    ai_tasks: numbers.map((n) => ({ ...aiTask, task_id: idOf(n) })),
  };
};

const open = async (store: Store, initialState: State) => {
  const clock = createVirtualClock();
  const service = await createService({
    clock,
    random: createSeededRandom(1),
    store,
    initialState,
    taskDurationMs: 1_000,
    onFault: (error) => {
      throw error;
    },
  });
  const get = async (path: string): Promise<void> => {
    const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.first}` };
    const reply = await service.fetch(new Request(`http://service.test${path}`, { headers }));
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status}`);
    await reply.arrayBuffer();
  };
  return { clock, get };
};

const REPEATED = 200;
const repeatedly = async (work: () => Promise<unknown>): Promise<void> => {
  for (let n = 0; n < REPEATED; n += 1) await work();
};

type Figures = Readonly<Record<string, number>>;

const measureRequests = async (size: number): Promise<Figures> => {
  const startMs = createVirtualClock().now();
  const quiet = await open(createMemoryStore(), stateOf(size, startMs, false));
  const moving = await open(createMemoryStore(), stateOf(size, startMs, true));
  const each = async (work: () => Promise<unknown>) => {
    await repeatedly(work);
    return (await microsOf(3, () => repeatedly(work))) / REPEATED;
  };
  const afterOneStep = async (): Promise<void> => {
    await moving.clock.advance(1);
    await moving.get(`/v1/tasks/${idOf(0)}`);
  };
  return {
    "list-tasks, a page of 10": await each(() => quiet.get("/cloud/v1/tasks")),
    "list-tasks, 10 of the open ones": await each(() =>
      moving.get("/cloud/v1/tasks?state=NEW&state=RUNNING"),
    ),
    "list-ai-tasks, a page of 10": await each(() => quiet.get("/streaming/ai/tasks")),
    "a request in which one task moves": await each(afterOneStep),
    "list-storage-events, all": await microsOf(5, () =>
      quiet.get("/storage/notifications/v1/events"),
    ),
  };
};

const measureOpening = async (size: number): Promise<Figures> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-growth-"));
  try {
    const first = await openLevelStore(folder);
    await open(first, stateOf(size, createVirtualClock().now(), false));
    await first.close();
    const micros = await microsOf(3, async () => {
      const store = await openLevelStore(folder);
      await open(store, builtInState());
      await store.close();
    });
    return { "opening a --data folder": micros };
  } finally {
    await rm(folder, { recursive: true });
  }
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const found = new Map<string, number[]>();
for (const size of SIZES) {
  const figures = { ...(await measureRequests(size)), ...(await measureOpening(size)) };
  for (const [name, micros] of Object.entries(figures)) {
    found.set(name, [...(found.get(name) ?? []), micros]);
  }
}
const [smallest, , largest] = SIZES;
const heads = SIZES.map((size) => size.toLocaleString("en").padStart(10)).join("");
print(`CPU time, ms, with that many tasks, AI tasks and storage events${heads}   growth`);
for (const [name, micros] of found) {
  const cells = micros.map((each) => (each / 1000).toFixed(3).padStart(10)).join("");
  const ratio = (micros.at(-1) ?? Number.NaN) / (micros[0] ?? Number.NaN);
  const exponent = Math.log(ratio) / Math.log(largest / smallest);
  print(`${name.padEnd(61)}${cells}${exponent.toFixed(2).padStart(9)}`);
}
