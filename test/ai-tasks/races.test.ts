import { setImmediate as letOthersRun } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Around } from "../support/faults.ts";
import { createGate } from "../support/gate.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { startWatching, watchedWorld } from "./start-watching.ts";

/** Lets each port call wait for a while, so that runs overtake each other everywhere. */
const atRandom = (seed: number): Around => {
  const random = createSeededRandom(seed);
  return async (_call, effect) => {
    for (let wait = Math.floor(random.fraction() * 4); wait > 0; wait--) await letOthersRun();
    return effect();
  };
};

test("two runs at once tell each end with one id and follow all that is at work", async () => {
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
      const told = world.published().map(({ data, id }) => `${data.taskId} ${id}`);
      const ids = [9, 10, 11, 15, 16, 17, 18].map(idOf);
      expect([...new Set(told)].sort().map((text) => text.slice(0, 36))).toEqual(ids);
      const open = (await world.watchRecord())?.open.map(({ taskId }) => taskId);
      expect(open?.toSorted()).toEqual([12, 13, 14, 19, 20, 21, 22].map(idOf));
    }),
    { numRuns: 40 },
  );
});

test("an end that comes between two first runs at once is told of", async () => {
  const gate = createGate();
  const { world, provider } = watchedWorld([aiTask(1, "STARTED")], gate.around);
  const { reached, open } = gate.hold("fetch");
  const slow = world.run();
  await reached;
  await world.run();
  provider.show([aiTask(1, "SUCCESS")]);
  open();
  await slow;
  const noted = await world.record(idOf(1));

  await world.run();

  expect(noted).toMatchObject({ state: { kind: "ended", isTold: false } });
  expect(world.toldEnds()).toEqual([idOf(1)]);
});

test("a task that is seen again while another run records it as gone stays followed", async () => {
  const gate = createGate();
  const { world, provider } = await startWatching([aiTask(1, "STARTED")], gate.around);
  provider.show([]);
  await world.run();
  await world.clock.advance(300_000);
  const { reached, open } = gate.hold(`ledger.write ai-task#local/${idOf(1)}`);
  const slow = world.run();
  await reached;
  provider.show([aiTask(1, "STARTED")]);
  await world.run();

  open();
  await slow;

  expect(world.published().map(({ detailType }) => detailType)).toEqual(["AiTaskVanished"]);
  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "transcription" },
  ]);
});
