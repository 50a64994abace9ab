import { expect, test } from "vitest";
import { createFaults } from "../../../support/faults.ts";
import { aiTask, idOf } from "./ai-provider.ts";
import { startWatching } from "./start-watching.ts";

test.each(["SUCCESS", "FAILURE", "REVOKED"] as const)(
  "a task that ends as %s is published once over many runs",
  async (status) => {
    const { world, provider } = await startWatching([aiTask(1, "STARTED")]);
    provider.show([aiTask(1, status)]);

    for (let round = 1; round <= 5; round++) await world.run();

    expect(world.publishedEnds()).toEqual([idOf(1)]);
    expect(world.published()[0]?.data.status).toBe(status);
    expect((await world.watchRecord())?.open).toEqual([]);
  },
);

test("a task that started and ended between two runs is published", async () => {
  const { world, provider } = await startWatching([]);
  provider.show([aiTask(1, "REVOKED", { started_at: null })]);

  await world.run();
  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("a task that is first seen running is followed, and published when it ends", async () => {
  const { world, provider } = await startWatching([]);
  provider.show([aiTask(1, "PENDING", { started_at: null })]);
  await world.run();
  const before = world.publishedEnds();
  provider.show([aiTask(1, "SUCCESS")]);

  await world.run();

  expect(before).toEqual([]);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("the event has the account, the task, its status, and the time at which the end was seen", async () => {
  const { world, provider } = await startWatching([]);
  provider.show([aiTask(1, "FAILURE", { progress: 40, task_data: { url: "https://v.test/a" } })]);

  await world.run();

  expect(world.published()[0]).toEqual({
    detailType: "AiTaskEnded",
    id: world.published()[0]?.metadata.id,
    metadata: {
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      version: 1,
      time: "2026-01-01T00:00:00.000Z",
      account: "local",
      correlationId: "ai-task/local/00000000-0000-4000-8000-000000000001",
      causationId: "ai-task/local/00000000-0000-4000-8000-000000000001",
    },
    data: {
      taskId: "00000000-0000-4000-8000-000000000001",
      status: "FAILURE",
      taskName: "transcription",
      progress: 40,
      taskData: { url: "https://v.test/a" },
    },
  });
});

/** Data of the event of a task with these fields. */
const publishedOf = async (shown: object) => {
  const { world, provider } = await startWatching([]);
  provider.afterReply(() => ({
    count: 1,
    next: null,
    results: [{ task_id: idOf(1), status: "SUCCESS", task_data: {}, ...shown }],
  }));
  await world.run();
  return world.published()[0]?.data;
};

test("the method is read from the task's data, where newer servers name it", async () => {
  const data = await publishedOf({ task_data: { task_name: "content-moderation" } });

  expect(data).toEqual({
    taskId: idOf(1),
    status: "SUCCESS",
    taskName: "content-moderation",
    taskData: { task_name: "content-moderation" },
  });
});

test.each([7, null, "x".repeat(65), "ж".repeat(33)])(
  "an invalid name such as %j is left out",
  async (name) => {
    const data = await publishedOf({ task_data: { task_name: name } });

    expect(data).not.toHaveProperty("taskName");
  },
);

test("progress that the server leaves out is left out", async () => {
  expect(await publishedOf({ progress: null })).not.toHaveProperty("progress");
});

test("a whole number that JSON parsers would round is published as text", async () => {
  const data = await publishedOf({ task_data: { frames: [18446744073709551615n], size: 7 } });

  expect(data.taskData).toEqual({ frames: ["18446744073709551615"], size: 7 });
});

test.each([
  [64_000, true],
  [64_001, false],
])("data of %i characters is part of the event: %s", async (characters, isPart) => {
  const text = "ж".repeat(characters - '{"text":""}'.length);

  const data = await publishedOf({ task_data: { text } });

  expect("taskData" in data).toBe(isPart);
});

test.each([
  [100, true],
  [101, false],
])("data nested %i levels deep is part of the event: %s", async (levels, isPart) => {
  let nested: unknown = "leaf";
  for (let level = 1; level <= levels; level++) nested = { inner: nested };

  const data = await publishedOf({ task_data: nested });

  expect("taskData" in data).toBe(isPart);
});

test("an event that the bus refuses is left to the poller, and the run continues", async () => {
  const { world, provider } = await startWatching([]);
  world.bus.refuse(({ groupId }) => groupId === `local/${idOf(1)}`);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS")]);

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.publishedEnds()).toEqual([idOf(2)]);
  expect(world.log.lines.map(({ message }) => message)).toContain(
    "events not published, they stay due",
  );
  expect(await world.ledger.listDue(world.clock.now() + 5_000, 10)).toEqual([
    { key: `ai-task#local/${idOf(1)}`, dueAt: world.clock.now() + 5_000 },
  ]);
  world.bus.refuse(() => false);
  await world.poll();
  expect(world.publishedEnds()).toEqual([idOf(2), idOf(1)]);
});

test("an end that a run published before it died is not published again", async () => {
  const faults = createFaults();
  const { world, provider } = await startWatching([aiTask(1, "STARTED")], faults.around);
  provider.show([aiTask(1, "SUCCESS")]);
  // Calls: lease (2), read the watch, list, record the end (2), publish it (4), read the watch. The kill
  // comes before its write.
  faults.strike(faults.calls.length + 12, "killed");

  const error = await world.run();
  const followed = (await world.watchRecord())?.open;
  await world.clock.advance(60_000);
  await world.run();

  expect(faults.calls.filter((call) => call === "bus.publish")).toHaveLength(1);
  expect(error).toMatchObject({ name: "Killed" });
  expect(followed).toHaveLength(1);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
  expect((await world.watchRecord())?.open).toEqual([]);
});
