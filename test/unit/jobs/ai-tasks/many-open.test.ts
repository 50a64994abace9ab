import { expect, test } from "vitest";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { startWatching } from "./start-watching.ts";

const HOUR = 3_600_000;

const openIds = (watch: { open: readonly { taskId: string }[] } | undefined) =>
  watch?.open.map(({ taskId }) => taskId);

test("of more than 2,000 running tasks, 2,000 are followed", async () => {
  const { world } = await startWatching(aiTasksOf(1, 2_050, "STARTED"));

  const open = openIds(await world.watchRecord());

  expect(open).toHaveLength(2_000);
  // There is room for half of the last page's tasks.
  expect(open?.at(-1)).toBe(idOf(51));
  expect(world.log.lines).toMatchObject([
    {
      level: "warn",
      message: "more running AI tasks than can be followed",
      fields: { account: "local" },
    },
  ]);
});

test("the remaining tasks are followed once there is room, and published when they end", async () => {
  const { world, provider } = await startWatching([
    ...aiTasksOf(1, 10, "SUCCESS"),
    ...aiTasksOf(11, 2_060, "STARTED"),
  ]);
  provider.show([
    ...aiTasksOf(1, 10, "SUCCESS"),
    ...aiTasksOf(11, 2_030, "STARTED"),
    ...aiTasksOf(2_031, 2_060, "SUCCESS"),
  ]);
  await world.run();
  await world.clock.advance(HOUR);
  await world.run();
  const withRoom = openIds(await world.watchRecord());
  provider.show(aiTasksOf(1, 2_060, "SUCCESS"));
  await world.clock.advance(HOUR);

  await world.run({ durationMs: 1_000_000 });

  expect(withRoom).toHaveLength(2_000);
  expect(world.publishedEnds()).toHaveLength(2_050);
  expect(new Set(world.publishedEnds()).size).toBe(2_050);
});

test("an end above a task that is not followed hides it for an hour at most", async () => {
  const base = aiTasksOf(1, 100, "SUCCESS");
  const { world, provider } = await startWatching([...base, ...aiTasksOf(101, 2_100, "STARTED")]);
  // There is no room for 2,101; 100 tasks that started later have ended above it.
  const later = aiTasksOf(2_102, 2_201, "SUCCESS");
  const followed = aiTasksOf(101, 2_100, "STARTED");
  provider.show([...base, ...followed, aiTask(2_101, "STARTED"), ...later]);
  await world.run();
  provider.show([...base, ...followed, aiTask(2_101, "SUCCESS"), ...later]);
  await world.clock.advance(HOUR);

  await world.run();

  expect(world.publishedEnds().filter((id) => id === idOf(2_101))).toHaveLength(1);
});

test("2,000 followed tasks fit into one ledger item, with any names", async () => {
  const { world, provider } = await startWatching([]);
  const results = Array.from({ length: 2_000 }, (_, n) => ({
    task_id: idOf(n),
    status: "STARTED",
    task_data: { task_name: "\u0001".repeat(10) },
  }));
  provider.afterReply(() => ({ count: 2_000, next: null, results }));
  await world.run();
  provider.afterReply(() => ({ count: 0, next: null, results: [] }));
  for (let check = 1; check <= 3; check++) await world.run();

  const item = await world.ledger.read("ai-watch#local");

  expect(item?.value.open).toHaveLength(2_000);
  expect(Buffer.byteLength(JSON.stringify(item?.value))).toBeLessThan(400_000);
});
