import { expect, test } from "vitest";
import { builtInAiTasks } from "../../lib/service/built-in/ai-tasks.ts";
import { json } from "../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { watchedWorld } from "./start-watching.ts";

const BUILT_IN = (n: number) => `aafe70c6-0000-4000-8000-327b65f767${String(n).padStart(2, "0")}`;
const MODERATION = { task_name: "content-moderation" } as const;

test("the first run records what is listed and publishes nothing", async () => {
  const { world } = watchedWorld(builtInAiTasks());

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.published()).toEqual([]);
  expect(await world.record(BUILT_IN(3))).toMatchObject({
    state: { kind: "ended", status: "FAILURE", isTold: false },
    outbox: [],
  });
  expect(await world.watchRecord()).toEqual({
    baseline: {},
    open: [
      { taskId: BUILT_IN(6), taskName: "content-moderation" },
      { taskId: BUILT_IN(8), taskName: "content-moderation" },
      { taskId: BUILT_IN(10), taskName: "transcription" },
      { taskId: BUILT_IN(11), taskName: "transcription" },
      { taskId: BUILT_IN(12), taskName: "content-moderation" },
    ],
  });
});

test("what was at work at the first run is told of when it ends", async () => {
  const { world } = watchedWorld(builtInAiTasks());
  await world.run();
  await world.clock.advance(180_000);

  await world.run();

  expect(world.published()).toHaveLength(1);
  expect(world.published()[0]).toMatchObject({
    detailType: "AiTaskEnded",
    data: {
      taskId: BUILT_IN(12),
      status: "FAILURE",
      taskName: "content-moderation",
      progress: 70,
      taskData: { task_name: "content-moderation", category: "nsfw" },
    },
  });
});

test("the first run reads every page, and the pages behind the first are not read again", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 25, "SUCCESS"));
  provider.capPages(10);

  await world.run();
  const first = provider.takePages();
  await world.run();

  // Twice, because a task that is removed in the meantime would hide another.
  expect(first).toEqual([1, 2, 3, 1, 2, 3]);
  expect(provider.takePages()).toEqual([1]);
});

test("a first run whose list cannot be read records nothing", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 25, "SUCCESS"));
  provider.capPages(10);
  provider.beforeRequest((query) => (query.get("page") === "3" ? json(403, {}) : undefined));

  const error = await world.run();

  expect(error).toMatchObject({ name: "ProviderError", code: "forbidden" });
  expect(world.calls.filter((call) => call.startsWith("ledger.write"))).toEqual([]);
});

test("a task whose state is a word that nobody knows is at work", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED")]);
  provider.afterReply((body) => JSON.parse(JSON.stringify(body).replace("STARTED", "MELTING")));

  await world.run();

  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "transcription" },
  ]);
});

test("only tasks of the method that is watched are told of", async () => {
  const { world, provider } = watchedWorld([]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS", MODERATION)]);

  await world.run({ taskName: "transcription" });

  expect(world.toldEnds()).toEqual([idOf(1)]);
  expect(provider.lastQuery()?.get("task_name")).toBe("transcription");
  expect((await world.watchRecord())?.baseline).toEqual({ taskName: "transcription" });
});

test("a method that the interface does not know is refused before anything is asked", async () => {
  const { world, provider } = watchedWorld([]);

  const error = await world.run({ taskName: "translation" });

  expect(error).toMatchObject({ name: "ZodError" });
  expect(provider.takePages()).toEqual([]);
});

test("another filter takes another baseline, and nothing that is listed then is told of", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "SUCCESS")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS", MODERATION), aiTask(3, "SUCCESS")]);

  await world.run();
  await world.run();

  expect(world.published()).toEqual([]);
  expect((await world.watchRecord())?.baseline).toEqual({});
});

test("what was followed before another baseline is followed on, and told of after it", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED"), aiTask(2, "STARTED")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);

  await world.run({ taskName: "content-moderation" });
  const duringBaseline = world.toldEnds();
  await world.run({ taskName: "content-moderation" });

  expect(duringBaseline).toEqual([]);
  expect(world.toldEnds()).toEqual([idOf(1)]);
  expect((await world.watchRecord())?.open.map(({ taskId }) => taskId)).toEqual([idOf(2)]);
});

test("a task that had ended when it was listed by the new baseline, but was followed, is told of", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();
  await world.run();

  expect(world.toldEnds()).toEqual([idOf(1)]);
});

test("another baseline reads the whole list, also below what the one before has recorded", async () => {
  const moderation = aiTask(1, "STARTED", MODERATION);
  const { world, provider } = watchedWorld([moderation, aiTask(2, "SUCCESS")]);
  provider.capPages(1);
  await world.run({ taskName: "transcription" });

  await world.run();

  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "content-moderation" },
  ]);
});
