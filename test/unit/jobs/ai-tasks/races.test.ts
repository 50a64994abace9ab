import { setImmediate as letOthersRun } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Around } from "../../../support/faults.ts";
import { createGate } from "../../../support/gate.ts";
import { createSeededRandom } from "../../../support/seeded-random.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { startWatching, watchedWorld } from "./start-watching.ts";

/** Delays each port call, so that runs overtake each other everywhere. */
const atRandom = (seed: number): Around => {
  const random = createSeededRandom(seed);
  return async (_call, effect) => {
    for (let wait = Math.floor(random.fraction() * 4); wait > 0; wait--) await letOthersRun();
    return effect();
  };
};

test("of two runs at once, one publishes each end once and follows all running tasks", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const before = [...aiTasksOf(1, 8, "SUCCESS"), ...aiTasksOf(9, 14, "STARTED")];
      const { world, provider } = await startWatching(before, atRandom(seed));
      provider.capPages(4);
      provider.show([
        ...aiTasksOf(1, 11, "SUCCESS"),
        ...aiTasksOf(12, 14, "STARTED"),
        ...aiTasksOf(15, 18, "FAILURE"),
        ...aiTasksOf(19, 22, "STARTED"),
      ]);

      const errors = await Promise.all([world.run(), world.run()]);

      expect(errors).toEqual([undefined, undefined]);
      expect(world.publishedEnds().toSorted()).toEqual([9, 10, 11, 15, 16, 17, 18].map(idOf));
      const open = (await world.watchRecord())?.open.map(({ taskId }) => taskId);
      expect(open?.toSorted()).toEqual([12, 13, 14, 19, 20, 21, 22].map(idOf));
    }),
    { numRuns: 40 },
  );
});

test("a run ends without an error while another one is active", async () => {
  const gate = createGate();
  const { world, provider } = await startWatching([aiTask(1, "STARTED")], gate.around);
  provider.show([aiTask(1, "SUCCESS")]);
  const { reached, open } = gate.hold("fetch");
  const slow = world.run();
  await reached;
  const callsBefore = world.calls.length;

  const error = await world.run();

  const calls = world.calls.slice(callsBefore);
  open();
  await slow;
  expect(error).toBeUndefined();
  expect(calls).toEqual(["ledger.read lease#watch-ai-tasks/local"]);
  expect(world.publishedEnds()).toEqual([idOf(1)]);
});

test("a long run renews its lease while it makes progress", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 5, "SUCCESS"));
  provider.capPages(1);
  provider.show([...aiTasksOf(1, 5, "SUCCESS"), ...aiTasksOf(6, 13, "STARTED")]);
  const errors: unknown[] = [];
  provider.beforeRequest(() => {
    void world.run().then((error) => errors.push(error));
    return undefined;
  });

  const error = await world.run({ requestsPerSecond: 0.05, durationMs: 300_000 });

  expect(error).toBeUndefined();
  // If a lease had expired, another run would have sent requests too.
  expect(provider.takePages()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a long run that asks for tasks by id renews its lease while it makes progress", async () => {
  const { world, provider } = await startWatching([
    ...aiTasksOf(1, 8, "STARTED"),
    ...aiTasksOf(9, 19, "SUCCESS"),
  ]);
  provider.capPages(10);
  provider.beforeRequest(() => {
    void world.run();
    return undefined;
  });

  const error = await world.run({ requestsPerSecond: 0.05, durationMs: 300_000 });

  expect(error).toBeUndefined();
  expect(provider.takeAsked()).toHaveLength(8);
});

test("a run that is overtaken while it records a page starts no further page", async () => {
  const gate = createGate();
  const { world, provider } = await startWatching(aiTasksOf(1, 10, "SUCCESS"), gate.around);
  provider.capPages(5);
  provider.show(aiTasksOf(1, 20, "SUCCESS"));
  const { reached, open } = gate.hold("bus.publish");
  const slow = world.run();
  await reached;
  await world.clock.advance(60_000);
  await world.run();
  const callsBefore = world.calls.length;

  open();
  await slow;

  const calls = world.calls.slice(callsBefore);
  expect(calls.filter((call) => call.endsWith(idOf(20)))).toEqual([]);
  expect(new Set(world.publishedEnds()).size).toBe(10);
});

test("a first run that is overtaken rejects, and records no new end as an old one", async () => {
  const gate = createGate();
  const { world, provider } = watchedWorld([aiTask(1, "SUCCESS")], gate.around);
  const { reached, open } = gate.hold("fetch");
  const slow = world.run({ durationMs: 300_000 });
  await reached;
  await world.clock.advance(60_000);
  await world.run();
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS")]);
  open();
  const error = await slow;

  await world.run();

  expect(error).toMatchObject({ message: "another run has taken over the AI tasks" });
  expect(world.publishedEnds()).toEqual([idOf(2)]);
});

test("a task that is seen again while another run records it as vanished stays followed", async () => {
  const gate = createGate();
  const { world, provider } = await startWatching([aiTask(1, "STARTED")], gate.around);
  provider.show([]);
  await world.run();
  await world.run();
  await world.clock.advance(300_000);
  const { reached, open } = gate.hold(`ledger.write ai-task#local/${idOf(1)}`);
  const slow = world.run();
  await reached;
  await world.clock.advance(60_000);
  provider.show([aiTask(1, "STARTED")]);
  await world.run();

  open();
  const error = await slow;

  expect(error).toMatchObject({ message: "another run has taken over the AI tasks" });
  expect(world.published().map(({ detailType }) => detailType)).toEqual(["AiTaskVanished"]);
  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "transcription" },
  ]);
});
