import { setImmediate as letOthersRun } from "node:timers/promises";
import { expect, test } from "vitest";
import { createThresholdWorld, type ThresholdWorldOptions } from "./threshold-world.ts";

/*
 * Where thresholds cannot be listed: requests that got no answer, and arrive later than others that
 * were sent after them.
 */

const AMBIGUITY_WINDOW_MS = 300_000;
const LEASE_MS = 120_000;
const EMPTY = "prune: true\nthresholds: []\n";
const A_500 =
  "prune: true\nthresholds: [{ name: reaching_used_space, bucket_name: a, bytes: 500 }]\n";
const A_7 = A_500.replace("500", "7");
const EVENT_A = { name: "reaching_used_space", bucket_name: "a", bytes: 500 };

const createBlindWorld = (config: string, options: ThresholdWorldOptions = {}) =>
  createThresholdWorld({ config, account: { canList: false }, ...options });
type World = Awaited<ReturnType<typeof createBlindWorld>>;

/** No request of this sync arrives, for now. */
const syncInVain = async (world: World): Promise<void> => {
  const lost = Array.from({ length: 3 }, () => "the connection breaks before the effect" as const);
  world.faults.strike(...lost);
  await expect(world.sync()).rejects.toThrow("not every change was made");
  world.methods();
};

interface Course {
  /** What is there at first. */
  readonly first: string;
  /** What is wanted then, and does not arrive. */
  readonly late: string;
  /** How that arrives after all, once the first is wanted again. */
  readonly method: "POST" | "PUT" | "DELETE";
  readonly left: readonly string[];
}

test.each<readonly [string, Course]>([
  ["create", { first: EMPTY, late: A_500, method: "POST", left: [] }],
  ["delete", { first: A_500, late: EMPTY, method: "DELETE", left: ["a 500"] }],
  ["new limit", { first: A_7, late: A_500, method: "PUT", left: ["a 7"] }],
])("a %s that arrives after it was taken back does not stay", async (_what, course) => {
  const world = await createBlindWorld(course.first);
  await world.sync();
  world.source.write(course.late);
  await syncInVain(world);
  world.source.write(course.first);

  await expect(world.sync()).rejects.toThrow("not every change was made");
  await world.atProvider(course.method, EVENT_A);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);
  await world.sync();

  expect(await world.actual()).toEqual(course.left.map((each) => `reaching_used_space - ${each}`));
});

test("a change that may not last is published as left, with the reason", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(EMPTY);

  await expect(world.sync()).rejects.toThrow("not every change was made");

  expect(world.toldOf("ThresholdsSynced").at(-1)?.data).toMatchObject({
    outcome: "partial",
    counts: { deleted: 0, left: 1 },
    changes: [
      {
        outcome: "left",
        problem: "made, and an earlier request for it that got no answer may still arrive",
      },
    ],
  });
});

test("the same change once more is certain at once", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);

  await world.sync();
  await world.sync();

  expect(world.methods()).toEqual(["PUT", "POST"]);
  expect(await world.actual()).toEqual(["reaching_used_space - a 500"]);
});

test("a change that comes when no earlier request can arrive any more is certain at once", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(EMPTY);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);

  await world.sync();
  await world.sync();

  expect(world.methods()).toEqual(["DELETE"]);
  expect((await world.remembered())?.applied).toEqual([]);
});

test("a change that was refused leaves what is known as it was", async () => {
  const world = await createBlindWorld(A_7);
  await world.sync();
  world.source.write(A_500);
  const before = (await world.remembered())?.applied;
  world.faults.strike("is refused");

  await world.sync();

  expect((await world.remembered())?.applied).toEqual(before);
});

test("what a run that died may have sent is undone when none of it can arrive any more", async () => {
  let isDead = false;
  const world = await createBlindWorld(A_500, {
    around: (call, effect) =>
      isDead && call.name.startsWith("ledger.write") ? Promise.reject(new Error("dead")) : effect(),
  });
  world.meanwhile(async () => {
    isDead = true;
  });
  await expect(world.sync()).rejects.toThrow("dead");
  isDead = false;
  world.source.write(EMPTY);

  await world.clock.advance(LEASE_MS);
  await expect(world.sync()).rejects.toThrow("not every change was made");
  await world.atProvider("POST", EVENT_A);
  await world.clock.advance(AMBIGUITY_WINDOW_MS);
  await world.sync();

  expect(await world.actual()).toEqual([]);
});

test("a create that arrives while a slow sync goes on is deleted by the next one", async () => {
  const world = await createBlindWorld(A_500);
  await syncInVain(world);
  world.source.write(A_500.replace("bucket_name: a", "bucket_name: b"));
  await world.clock.advance(AMBIGUITY_WINDOW_MS - 30_000);
  world.meanwhile(async () => {
    while (!world.requests.some(({ method }) => method === "DELETE")) await letOthersRun();
    await letOthersRun();
    await world.atProvider("POST", EVENT_A);
    await world.clock.advance(60_000);
  });

  await expect(world.sync()).rejects.toThrow("not every change was made");
  await world.sync();

  expect(await world.actual()).toEqual(["reaching_used_space - b 500"]);
});
