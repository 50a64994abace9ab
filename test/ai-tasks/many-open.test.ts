import { expect, test } from "vitest";
import { aiTasksOf, idOf } from "./ai-provider.ts";
import { startWatching } from "./start-watching.ts";

const openIds = (watch: { open: readonly { taskId: string }[] } | undefined) =>
  watch?.open.map(({ taskId }) => taskId);

test("of more than 2,000 tasks at work those that were started first are followed", async () => {
  const { world } = await startWatching(aiTasksOf(1, 2_050, "STARTED"));

  const open = openIds(await world.watchRecord());

  expect(open).toHaveLength(2_000);
  expect(open?.at(-1)).toBe(idOf(2_000));
  expect(world.log.lines).toMatchObject([
    {
      level: "warn",
      message: "more AI tasks at work than can be followed",
      fields: { account: "local", count: 50 },
    },
  ]);
});

test("those left out are told of when they end, and followed when there is room", async () => {
  const { world, provider } = await startWatching([
    ...aiTasksOf(1, 10, "SUCCESS"),
    ...aiTasksOf(11, 2_060, "STARTED"),
  ]);
  provider.show([...aiTasksOf(1, 40, "SUCCESS"), ...aiTasksOf(41, 2_060, "STARTED")]);
  await world.run();
  await world.run();
  const withRoom = openIds(await world.watchRecord());
  provider.show(aiTasksOf(1, 2_060, "SUCCESS"));

  await world.run();

  expect(withRoom).toHaveLength(2_000);
  expect(withRoom?.at(-1)).toBe(idOf(2_040));
  expect(world.toldEnds()).toHaveLength(2_050);
  expect(new Set(world.toldEnds()).size).toBe(2_050);
});

test("an end above a task that found no room does not hide it", async () => {
  const base = aiTasksOf(1, 200, "SUCCESS");
  const { world, provider } = await startWatching([...base, ...aiTasksOf(201, 2_200, "STARTED")]);
  // 2,201 finds no room; 200 tasks that were started later have ended above it.
  const later = aiTasksOf(2_202, 2_401, "SUCCESS");
  const first = [...base, ...aiTasksOf(201, 2_201, "STARTED"), ...later];
  provider.show(first);
  await world.run();
  provider.show([...base, ...aiTasksOf(201, 2_201, "SUCCESS"), ...later]);

  await world.run();

  expect(world.toldEnds().filter((id) => id === idOf(2_201))).toHaveLength(1);
});

test("2,000 followed tasks fit into one ledger item, whatever their names", async () => {
  const { world, provider } = await startWatching([]);
  const results = Array.from({ length: 2_000 }, (_, n) => ({
    task_id: idOf(n),
    status: "STARTED",
    task_data: { task_name: "\u0001".repeat(10) },
  }));
  provider.afterReply(() => ({ count: 2_000, next: null, results }));
  await world.run();
  provider.afterReply(() => ({ count: 0, next: null, results: [] }));
  await world.run();

  const item = await world.ledger.read("ai-watch#local");

  expect(item?.value.open).toHaveLength(2_000);
  expect(Buffer.byteLength(JSON.stringify(item?.value))).toBeLessThan(400_000);
});
