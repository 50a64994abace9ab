import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { recordedBy, startWatching } from "./start-watching.ts";

const MINUTE = 60_000;
const OPEN = aiTask(1, "STARTED");

/** A running task that the provider no longer knows. */
const startMissing = async () => {
  const started = await startWatching([OPEN]);
  started.provider.show([]);
  return started;
};

test("a task that is not found is missing, and published as vanished after five minutes and three checks", async () => {
  const { world } = await startMissing();
  await world.run();
  await world.clock.advance(5 * MINUTE - 1);
  await world.run();
  const before = world.published();
  await world.clock.advance(1);

  await world.run();

  expect(before).toEqual([]);
  expect(world.published()).toMatchObject([
    {
      detailType: "AiTaskVanished",
      metadata: {
        time: "2026-01-01T00:05:00.000Z",
        account: "local",
        correlationId: `ai-task/local/${idOf(1)}`,
      },
      data: {
        taskId: idOf(1),
        taskName: "transcription",
        missingSince: "2026-01-01T00:00:00.000Z",
      },
    },
  ]);
  expect((await world.watchRecord())?.open).toEqual([]);
});

test("an answer of 404 counts as not found", async () => {
  const { world, provider } = await startMissing();
  provider.beforeRequest((query) => (query.has("task_id") ? json(404, {}) : undefined));

  await world.run();

  expect((await world.watchRecord())?.open).toMatchObject([
    { taskId: idOf(1), missing: { since: 1_767_225_600_000, looks: 1 } },
  ]);
});

test("a task that is found again within five minutes is no longer missing", async () => {
  const { world, provider } = await startMissing();
  await world.run();
  await world.clock.advance(4 * MINUTE);
  provider.show([OPEN]);
  await world.run();
  const found = await world.watchRecord();
  provider.show([]);
  await world.run();
  await world.clock.advance(4 * MINUTE);

  await world.run();

  expect(found?.open).toEqual([{ taskId: idOf(1), taskName: "transcription" }]);
  expect(world.published()).toEqual([]);
});

test("checks that fail do not make a task vanish", async () => {
  const { world, provider } = await startMissing();
  await world.run();
  provider.beforeRequest((query) => (query.has("task_id") ? json(403, {}) : undefined));
  await world.clock.advance(10 * MINUTE);

  await world.run();

  expect(world.published()).toEqual([]);
});

test("a clock that jumps ahead does not make a task vanish at the second check", async () => {
  const { world } = await startMissing();
  await world.run();
  await world.clock.advance(60 * MINUTE);

  await world.run();

  expect(world.published()).toEqual([]);
});

test("a task that is missing for long costs no write per check", async () => {
  const { world } = await startMissing();
  for (let check = 1; check <= 3; check++) await world.run();
  const callsBefore = world.calls.length;

  await world.run();

  expect(recordedBy(world.calls.slice(callsBefore))).toEqual([]);
});

const lookThreeTimes = async ({ world }: Awaited<ReturnType<typeof startMissing>>) => {
  await world.run();
  await world.clock.advance(MINUTE);
  await world.run();
  await world.clock.advance(4 * MINUTE);
  await world.run();
};

const startVanished = async () => {
  const started = await startMissing();
  await lookThreeTimes(started);
  return started;
};

test("a disappearance is published once over many runs", async () => {
  const { world } = await startVanished();

  for (let round = 1; round <= 3; round++) {
    await world.clock.advance(10 * MINUTE);
    await world.run();
  }

  expect(world.published()).toHaveLength(1);
});

test("a task that has vanished and comes back is followed to its end", async () => {
  const { world, provider } = await startVanished();
  provider.show([OPEN]);
  await world.run();
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();

  expect(world.published().map(({ detailType }) => detailType)).toEqual([
    "AiTaskVanished",
    "AiTaskEnded",
  ]);
});

test("a task that has vanished and comes back ended is published as ended", async () => {
  const { world, provider } = await startVanished();
  provider.show([aiTask(1, "FAILURE")]);

  await world.run();
  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("a task that has vanished and comes back ended for a new baseline is published after it", async () => {
  const { world, provider } = await startVanished();
  provider.capPages(3);
  provider.show([aiTask(1, "FAILURE"), ...aiTasksOf(2, 9, "SUCCESS")]);
  await world.run({ taskName: "transcription" });
  const duringBaseline = world.publishedEnds();

  await world.run({ taskName: "transcription" });

  expect(duringBaseline).toEqual([]);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("a task that vanishes a second time has another event", async () => {
  const { world, provider } = await startVanished();
  provider.show([OPEN]);
  await world.run();
  provider.show([]);

  await lookThreeTimes({ world, provider });

  const vanished = world.published();
  expect(vanished.map(({ data }) => data.missingSince)).toEqual([
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:05:00.000Z",
  ]);
  expect(vanished[0]?.id).not.toBe(vanished[1]?.id);
});
