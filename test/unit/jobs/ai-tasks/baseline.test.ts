import { expect, test } from "vitest";
import { builtInAiTasks } from "../../../../lib/service/state/ai-tasks.ts";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { watchedWorld } from "./start-watching.ts";

const BUILT_IN = (n: number) => `aafe70c6-0000-4000-8000-327b65f767${String(n).padStart(2, "0")}`;
const MODERATION = { task_name: "content-moderation" } as const;

test("the first run records the listed tasks and publishes nothing", async () => {
  const { world } = watchedWorld(builtInAiTasks());

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.published()).toEqual([]);
  expect(await world.record(BUILT_IN(3))).toMatchObject({
    state: { kind: "ended", status: "FAILURE", isTold: false },
    outbox: [],
  });
  expect(await world.watchRecord()).toEqual({
    fullReadAt: 1_767_225_600_000,
    open: [
      { taskId: BUILT_IN(12), taskName: "content-moderation" },
      { taskId: BUILT_IN(11), taskName: "transcription" },
      { taskId: BUILT_IN(10), taskName: "transcription" },
      { taskId: BUILT_IN(8), taskName: "content-moderation" },
      { taskId: BUILT_IN(6), taskName: "content-moderation" },
    ],
    outbox: [],
  });
});

test("a task that was running at the first run is published when it ends", async () => {
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

test("the first run reads every page, and later runs read only the first", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 25, "SUCCESS"));
  provider.capPages(10);

  await world.run();
  const first = provider.takePages();
  await world.run();

  expect(first).toEqual([1, 2, 3]);
  expect(provider.takePages()).toEqual([1]);
});

test("a first run that cannot read the list to its end rejects, and the next run continues there", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 45, "SUCCESS"));
  provider.capPages(10);
  provider.beforeRequest((query) => (query.get("page") === "4" ? json(403, {}) : undefined));

  const error = await world.run();
  const cutOff = await world.watchRecord();
  provider.takePages();
  provider.beforeRequest(() => undefined);
  await world.run();

  expect(error).toMatchObject({ name: "ProviderError", code: "forbidden" });
  expect(cutOff).toEqual({ nextPage: 3, open: [], outbox: [] });
  // This run does not know how many tasks the first one saw, so it reads one page too many.
  expect(provider.takePages()).toEqual([3, 4, 5, 6]);
  expect(await world.watchRecord()).toMatchObject({ fullReadAt: 1_767_225_600_000 });
  expect(world.published()).toEqual([]);
});

test("a first run without time for the whole list gets further each time", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 45, "SUCCESS"));
  provider.capPages(5);
  const pages: (readonly number[])[] = [];

  for (let run = 1; run <= 4; run++) {
    await world.run({ requestsPerSecond: 1, durationMs: 4_000 });
    pages.push(provider.takePages());
  }

  expect(pages).toEqual([[1, 2, 3, 4], [4, 5, 6, 7], [7, 8, 9, 10], [1]]);
  expect(world.published()).toEqual([]);
});

test("a task that ends during a baseline of several runs is published only if it was seen running", async () => {
  const before = [...aiTasksOf(1, 20, "SUCCESS"), aiTask(21, "STARTED"), aiTask(22, "STARTED")];
  const { world, provider } = watchedWorld(before);
  provider.capPages(1);
  await world.run({ requestsPerSecond: 1, durationMs: 1_000 });
  const openAtFirst = (await world.watchRecord())?.open;
  provider.show([...aiTasksOf(1, 21, "SUCCESS"), aiTask(22, "SUCCESS")]);

  for (let run = 1; run <= 2; run++) await world.run();

  expect(openAtFirst).toEqual([{ taskId: idOf(22), taskName: "transcription" }]);
  expect(world.publishedEnds()).toEqual([idOf(22)]);
});

test("a task with an unknown status counts as running", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED")]);
  provider.afterReply((body) => JSON.parse(JSON.stringify(body).replace("STARTED", "MELTING")));

  await world.run();

  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "transcription" },
  ]);
});

test("only tasks of the watched method are published", async () => {
  const { world, provider } = watchedWorld([]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS", MODERATION)]);

  await world.run({ taskName: "transcription" });

  expect(world.publishedEnds()).toEqual([idOf(1)]);
  expect(provider.lastQuery()?.get("task_name")).toBe("transcription");
  expect((await world.watchRecord())?.taskName).toBe("transcription");
});

test("an unknown method is refused before any request", async () => {
  const { world, provider } = watchedWorld([]);

  const error = await world.run({ taskName: "translation" });

  expect(error).toMatchObject({ name: "ZodError" });
  expect(provider.takePages()).toEqual([]);
});

test("another filter starts another baseline, which publishes nothing", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "SUCCESS")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS", MODERATION), aiTask(3, "SUCCESS")]);

  await world.run();
  await world.run();

  expect(world.published()).toEqual([]);
  expect(await world.watchRecord()).not.toHaveProperty("taskName");
});

test("a task that was followed before another baseline stays followed, and is published after it", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED"), aiTask(2, "STARTED")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);

  await world.run({ taskName: "content-moderation" });
  const duringBaseline = world.publishedEnds();
  await world.run({ taskName: "content-moderation" });

  expect(duringBaseline).toEqual([]);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
  expect((await world.watchRecord())?.open.map(({ taskId }) => taskId)).toEqual([idOf(2)]);
});

test("a followed task that the new baseline lists as ended is published", async () => {
  const { world, provider } = watchedWorld([aiTask(1, "STARTED")]);
  await world.run({ taskName: "transcription" });
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();
  const duringBaseline = world.publishedEnds();
  await world.run();

  expect(duringBaseline).toEqual([]);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("another baseline reads the whole list, below the tasks of the previous one too", async () => {
  const moderation = aiTask(1, "STARTED", MODERATION);
  const { world, provider } = watchedWorld([moderation, aiTask(2, "SUCCESS")]);
  provider.capPages(1);
  await world.run({ taskName: "transcription" });

  await world.run();

  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "content-moderation" },
  ]);
});
