import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { recordedBy, startWatching } from "./start-watching.ts";

const CAP = 10;

/** Tasks 1 to `count` are running, and too old for the first page. */
const startWithOld = async (count: number) => {
  const newer = aiTasksOf(1_001, 1_000 + CAP, "SUCCESS");
  const old = aiTasksOf(1, count, "STARTED");
  const { world, provider } = await startWatching([...old, ...newer]);
  provider.capPages(CAP);
  return { world, provider, old, newer };
};

test("followed tasks that are not on the read pages are requested by id", async () => {
  const { world, provider, newer } = await startWithOld(3);
  provider.show([aiTask(1, "STARTED"), aiTask(2, "FAILURE"), aiTask(3, "SUCCESS"), ...newer]);

  await world.run();

  expect([...provider.takeAsked()].sort()).toEqual([idOf(1), idOf(2), idOf(3)]);
  expect([...world.publishedEnds()].sort()).toEqual([idOf(2), idOf(3)]);
  expect((await world.watchRecord())?.open.map(({ taskId }) => taskId)).toEqual([idOf(1)]);
});

test("followed tasks on the read pages are not requested by id", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED"), aiTask(2, "STARTED")]);

  await world.run();

  expect(provider.takeAsked()).toEqual([]);
});

test.each([429, 500])(
  "a request by id that gets %i is retried until it is answered",
  async (status) => {
    const { world, provider, newer } = await startWithOld(1);
    provider.show([aiTask(1, "SUCCESS"), ...newer]);
    let failures = 0;
    provider.beforeRequest((query) => {
      if (!query.has("task_id") || failures === 2) return undefined;
      failures += 1;
      return json(status, {});
    });

    await world.run();

    expect(provider.takeAsked()).toHaveLength(3);
    expect(world.publishedEnds()).toEqual([idOf(1)]);
  },
);

test("a pause that the provider asks for delays every next request", async () => {
  const { world, provider } = await startWithOld(8);
  const askedAt: number[] = [];
  const startedAt = world.clock.now();
  provider.beforeRequest((query) => {
    if (!query.has("task_id")) return undefined;
    askedAt.push(world.clock.now() - startedAt);
    return askedAt.length === 1 ? json(429, {}, { "retry-after": "7" }) : undefined;
  });

  await world.run();

  // Four requests leave at once, and each of the others after the pause.
  expect(askedAt.filter((at) => at < 7_000).length).toBeLessThanOrEqual(4);
  expect(askedAt).toHaveLength(9);
});

test.each([
  ["fails for good", () => json(403, {})],
  ["cannot be read", () => new Response("<html>")],
  ["answers with another task", () => json(200, { count: 1, results: [{ ...SHOWN }] })],
])("a check that %s changes nothing", async (_what, answer) => {
  const { world, provider } = await startWithOld(2);
  provider.beforeRequest((query) => (query.get("task_id") === idOf(1) ? answer() : undefined));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.published()).toEqual([]);
  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(2), taskName: "transcription" },
    { taskId: idOf(1), taskName: "transcription" },
  ]);
  expect(world.log.lines).toEqual([
    expect.objectContaining({
      message: "AI tasks not checked; they stay followed",
      fields: expect.objectContaining({ account: "local", count: 1 }),
    }),
  ]);
});

const SHOWN = { task_id: idOf(999), status: "SUCCESS", task_data: {} };

test("at most four requests by id run at once", async () => {
  const { world, provider } = await startWithOld(20);
  const inFlight = new Set<string>();
  let most = 0;
  const { fetch } = provider;
  provider.fetch = async (request) => {
    inFlight.add(request.url);
    most = Math.max(most, inFlight.size);
    const reply = await fetch(request);
    inFlight.delete(request.url);
    return reply;
  };

  await world.run();

  expect(most).toBe(4);
});

test("requests by id obey the account's rate limit", async () => {
  const { world, provider } = await startWithOld(20);
  const startedAt = world.clock.now();

  await world.run({ requestsPerSecond: 2 });

  // 21 requests, one every half second, the first at once.
  expect(world.clock.now() - startedAt).toBe(10_000);
  expect(provider.takeAsked()).toHaveLength(20);
});

test("a run that runs out of time sends no further request, and records the checks so far", async () => {
  const { world, provider, newer } = await startWithOld(20);
  provider.show([...aiTasksOf(1, 20, "SUCCESS"), ...newer]);

  const error = await world.run({ requestsPerSecond: 2, durationMs: 3_000 });

  expect(error).toBeUndefined();
  expect(provider.takeAsked()).toHaveLength(5);
  expect(world.publishedEnds()).toHaveLength(5);
  expect((await world.watchRecord())?.open).toHaveLength(15);
});

test("runs that are short of time reach every task in the end", async () => {
  const { world, provider } = await startWithOld(20);
  const asked = new Set<string>();

  for (let round = 1; round <= 20; round++) {
    await world.run({ requestsPerSecond: 2, durationMs: 3_000 });
    for (const id of provider.takeAsked()) asked.add(id);
  }

  expect(asked.size).toBe(20);
});

test("a run that runs out of time before the list is read rejects and records nothing", async () => {
  const { world, provider } = await startWithOld(1);
  provider.show(aiTasksOf(1, 100, "SUCCESS"));
  const callsBefore = world.calls.length;

  const error = await world.run({ requestsPerSecond: 1, durationMs: 3_000 });

  expect(error).toMatchObject({ message: "list-ai-tasks: not sent: no time left" });
  expect(recordedBy(world.calls.slice(callsBefore))).toEqual([]);
});

test("a record of a newer version keeps no other task from its event", async () => {
  const { world, provider } = await startWatching([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);
  const key = `ai-task#local/${idOf(1)}`;
  const version = ((await world.ledger.read(key))?.version ?? 0) + 1;
  await world.ledger.write({ key, version, value: { state: { kind: "archived" } } });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS"), aiTask(3, "FAILURE")]);

  await world.run();

  expect([...world.publishedEnds()].sort()).toEqual([idOf(2), idOf(3)]);
});
