import { expect, test } from "vitest";
import { createService } from "../../../lib/service/service.ts";
import type { AiTaskRecord } from "../../../lib/service/state/ai-tasks.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import type { Answer } from "../../support/http-exchange.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { startService } from "./harness.ts";

const LIST = "/streaming/ai/tasks";
/** Both are in progress when the service first starts. */
const TRANSCRIPTION = "aafe70c6-0000-4000-8000-327b65f76711";
const MODERATION = "aafe70c6-0000-4000-8000-327b65f76712";
const START = Date.UTC(2026, 0, 1);

test("a task follows its plan, and returns to PENDING between two stages with the same progress", async () => {
  const { send, clock } = await startService();
  const seen: unknown[] = [];
  let now = 0;

  for (const at of [0, 59_999, 60_000, 119_999, 120_000, 239_999, 240_000, 86_400_000]) {
    await clock.advance(at - now);
    now = at;
    const { results } = (await send("GET", `${LIST}?task_id=${TRANSCRIPTION}`)).body;
    seen.push(`${at} ${results[0].status} ${results[0].progress}`);
  }

  expect(seen).toEqual([
    "0 STARTED 10",
    "59999 STARTED 10",
    "60000 PENDING 40",
    "119999 PENDING 40",
    "120000 STARTED 60",
    "239999 STARTED 60",
    "240000 SUCCESS 100",
    "86400000 SUCCESS 100",
  ]);
});

test("filters, search and order use the present status of a task", async () => {
  const { send, clock } = await startService();
  const idsOf = async (query: string) =>
    (await send("GET", `${LIST}?${query}`)).body.results.map(
      ({ task_id }: { task_id: string }) => task_id,
    );
  const before = await idsOf("status=STARTED");

  await clock.advance(180_000);

  expect(before).toEqual([MODERATION, TRANSCRIPTION]);
  expect(await idsOf("status=STARTED")).toEqual([TRANSCRIPTION]);
  expect(await idsOf("search=failure%20moderation")).toEqual([MODERATION]);
  expect((await idsOf("ordering=status"))[1]).toBe(MODERATION);
});

const planned = (letter: string, plan: AiTaskRecord["plan"]): AiTaskRecord => ({
  client_id: 1,
  task_id: `${letter.repeat(8)}-0000-4000-8000-000000000000`,
  task_name: "transcription",
  task_data: {},
  status: "RECEIVED",
  progress: 0,
  date_created: "2025-12-31T00:00:00Z",
  started_at: null,
  plan,
  plan_from: null,
});

const step = (after_seconds: number, status: AiTaskRecord["status"]) => ({
  after_seconds,
  status,
  progress: 5,
});

test("the start of a task is the first STARTED step of its plan", async () => {
  const ai_tasks = [
    planned("a", [step(20, "PENDING"), step(90, "STARTED")]),
    planned("b", [step(30, "STARTED"), step(60, "PENDING"), step(120, "STARTED")]),
  ];
  const { send, clock } = await startService({ state: (builtIn) => ({ ...builtIn, ai_tasks }) });
  const order = async () => {
    const { results } = (await send("GET", `${LIST}?ordering=started_at`)).body;
    return results.map(({ task_id }: { task_id: string }) => task_id.slice(0, 1)).join("");
  };

  const orders = [await order()];
  for (const seconds of [29, 1, 60, 30]) {
    await clock.advance(seconds * 1000);
    orders.push(await order());
  }

  // At 0 and 29 s neither has started; at 30 s only b has; at 90 and 120 s b has started before a.
  expect(orders).toEqual(["ab", "ab", "ba", "ba", "ba"]);
});

/** Starts the service on a given store at a given time. */
const listAt = async (at: number, store = createMemoryStore(), state = builtInState()) => {
  const service = await createService({
    clock: createVirtualClock(at),
    random: createSeededRandom(),
    store,
    initialState: state,
    taskDurationMs: 10_000,
    onFault: (error) => {
      throw error;
    },
  });
  const response = await service.fetch(
    new Request(`http://service.test${LIST}?task_id=${TRANSCRIPTION}`, {
      headers: { authorization: `apikey ${BUILT_IN_API_KEYS.first}` },
    }),
  );
  const body: Answer["body"] = await response.json();
  return `${body.results[0].status} ${body.results[0].progress}`;
};

test("a plan continues after a restart with the same store, counted from the first start", async () => {
  const store = createMemoryStore();

  const seen = [
    await listAt(START, store),
    await listAt(START + 60_000, store),
    await listAt(START + 130_000, store),
    await listAt(START + 240_000, store),
  ];

  expect(seen).toEqual(["STARTED 10", "PENDING 40", "STARTED 60", "SUCCESS 100"]);
  expect(await listAt(START + 240_000)).toBe("STARTED 10");
});

test("plan_from sets the instant from which a plan counts", async () => {
  const builtIn = builtInState();
  const state = {
    ...builtIn,
    ai_tasks: builtIn.ai_tasks.map((one) => ({ ...one, plan_from: "2025-12-31T23:58:59Z" })),
  };

  expect(await listAt(START, createMemoryStore(), state)).toBe("PENDING 40");
  expect(await listAt(START + 59_000, createMemoryStore(), state)).toBe("STARTED 60");
});
