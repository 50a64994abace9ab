import { expect, test } from "vitest";
import {
  aiTasksQuerySchema,
  aiTasksViewSchema,
  viewAiTasks,
} from "../../../lib/admin/ai-tasks-view.ts";
import { listCommands } from "../../../lib/admin/list.ts";
import { listQuerySchema } from "../../../lib/admin/list-query.ts";
import { eventOfAiTask } from "../../../lib/jobs/ai-tasks/ai-task.ts";
import { json } from "../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "../jobs/ai-tasks/ai-provider.ts";
import { recordedBy, startWatching, watchedWorld } from "../jobs/ai-tasks/start-watching.ts";

const MINUTE = 60_000;
const AT_START = "2026-01-01T00:00:00.000Z";

type World = ReturnType<typeof watchedWorld>["world"];

/** The view as its JSON, which the schema must accept as it is. */
const view = async ({ ledger }: World, query: { limit?: number; cursor?: string } = {}) => {
  const made = await viewAiTasks(ledger, "local", aiTasksQuerySchema.parse(query));
  const json = JSON.parse(JSON.stringify(made));
  expect(aiTasksViewSchema.parse(json)).toEqual(json);
  return made;
};

test("before the first run there is no watch and no task", async () => {
  const { world } = watchedWorld([aiTask(1, "STARTED")]);

  expect(await view(world)).toEqual({ account: "local", watch: null, open: [], over: [] });
});

test("running tasks are shown with the time of their first sight", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED"), aiTask(2, "SUCCESS")]);
  await world.clock.advance(MINUTE);
  provider.show([aiTask(1, "STARTED"), aiTask(2, "SUCCESS"), aiTask(3, "PENDING")]);
  await world.run();

  const { watch, open, over } = await view(world);

  expect(watch).toEqual({ fullReadAt: AT_START });
  expect(open).toEqual([
    { taskId: idOf(1), taskName: "transcription", seenAt: AT_START },
    { taskId: idOf(3), taskName: "transcription", seenAt: "2026-01-01T00:01:00.000Z" },
  ]);
  // It ended before the watch began.
  expect(over).toEqual([]);
});

test("an ended task is shown with the id and the time of its event", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED"), aiTask(2, "STARTED")]);
  await world.clock.advance(MINUTE);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);
  await world.run();
  await world.clock.advance(MINUTE);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "FAILURE")]);
  await world.run();

  const { open, over } = await view(world);

  const published = world.published();
  expect(published).toHaveLength(2);
  expect(open).toEqual([]);
  expect(over.map(({ taskId, status, state }) => [taskId, status, state])).toEqual([
    [idOf(2), "FAILURE", "ended"],
    [idOf(1), "SUCCESS", "ended"],
  ]);
  expect(over.map(({ at, event }) => [event.type, event.id, at, event.state])).toEqual(
    published
      .map(({ detailType, metadata }) => [detailType, metadata.id, metadata.time, "published"])
      .toReversed(),
  );
});

test("a missing task is marked, and shown as vanished with its event after that", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
  provider.show([]);
  await world.run();
  const missing = await view(world);
  for (let minute = 1; minute <= 5; minute += 1) {
    await world.clock.advance(MINUTE);
    await world.run();
  }

  const { open, over } = await view(world);

  expect(missing.open).toMatchObject([{ taskId: idOf(1), missingSince: AT_START }]);
  expect(open).toEqual([]);
  const [event] = world.published();
  expect(over).toEqual([
    {
      taskId: idOf(1),
      taskName: "transcription",
      state: "vanished",
      at: event?.metadata.time,
      missingSince: AT_START,
      event: { type: "AiTaskVanished", id: event?.metadata.id, state: "published" },
    },
  ]);
});

test("a vanished task that ends keeps its place in the list and shows its end", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
  provider.show([]);
  for (let minute = 0; minute <= 5; minute += 1) {
    await world.run();
    await world.clock.advance(MINUTE);
  }
  const listed = await world.ledger.list("ai-tasks/local", undefined, 10);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS")]);
  await world.run();

  const { over } = await view(world);

  expect(over.map(({ taskId, state }) => [taskId, state])).toEqual([
    [idOf(2), "ended"],
    [idOf(1), "ended"],
  ]);
  expect((await world.ledger.list("ai-tasks/local", undefined, 10)).at(-1)).toEqual(listed[0]);
});

test("an event that the bus has not accepted is marked", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
  world.bus.refuse(() => true);
  provider.show([aiTask(1, "SUCCESS")]);
  await world.run();

  expect((await view(world)).over).toMatchObject([{ event: { state: "waiting" } }]);
});

test("pages show each task once, and the last page has no cursor", async () => {
  const { world, provider } = await startWatching([]);
  provider.show(aiTasksOf(1, 5, "SUCCESS"));
  await world.run();
  const ids: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await view(world, { limit: 2, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.over.map(({ taskId }) => taskId));
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== undefined);

  expect(pages).toBe(3);
  expect(ids.toSorted()).toEqual([1, 2, 3, 4, 5].map(idOf));
});

test("the list adds no write to a run, and its tasks do not appear among the commands", async () => {
  const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
  world.calls.splice(0);
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();

  // The end with its event, its publication, and the watch without the task.
  expect(recordedBy(world.calls)).toEqual([
    `ledger.write ai-task#local/${idOf(1)}`,
    `ledger.write ai-task#local/${idOf(1)}`,
    "ledger.write ai-watch#local",
  ]);
  const query = listQuerySchema().parse({});
  expect((await listCommands(world.ledger, query, world.clock.now())).rows).toEqual([]);
});

test("500 followed tasks have a time, further ones have none", async () => {
  const { world } = await startWatching(aiTasksOf(1, 520, "STARTED"));

  const { open } = await view(world);

  expect(open).toHaveLength(520);
  expect(open.filter(({ seenAt }) => seenAt !== undefined)).toHaveLength(500);
});

test("a record of a version without names and times is shown, and joins no list", () => {
  const old = {
    account: "local",
    taskId: idOf(1),
    state: { kind: "ended" as const, status: "SUCCESS", endedAt: 5, isTold: true },
    outbox: [],
  };

  expect(eventOfAiTask(old)).toMatchObject({ type: "AiTaskEnded", at: 5, state: "published" });
});

test("a refused list is shown with its time", async () => {
  const { world, provider } = watchedWorld([]);
  provider.beforeRequest(() => json(403, {}));
  await world.run();

  expect((await view(world)).watch).toEqual({ list: { state: "refused", since: AT_START } });
});
