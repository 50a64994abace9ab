import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { recordedBy, startWatching, watchedWorld } from "./start-watching.ts";

const HOUR = 3_600_000;

/** Ended tasks: the newest page shows ten, and an end below is missed by a short read. */
const startWithHidden = async () => {
  const started = await startWatching(aiTasksOf(1, 40, "SUCCESS"));
  started.provider.capPages(10);
  started.provider.show([aiTask(0, "FAILURE"), ...aiTasksOf(1, 40, "SUCCESS")]);
  return started;
};

test("a run reads the whole list once an hour", async () => {
  const { world, provider } = await startWithHidden();
  const pages: (readonly number[])[] = [];

  for (let run = 1; run <= 5; run++) {
    await world.clock.advance(HOUR / 2);
    await world.run();
    pages.push(provider.takePages());
  }

  expect(pages).toEqual([[1], [1, 1, 2, 3, 4, 5], [1], [1, 1, 2, 3, 4, 5], [1]]);
  expect(world.publishedEnds()).toEqual([idOf(0)]);
});

test("a full read without time for the whole list continues in the next run, below new tasks", async () => {
  const { world, provider } = await startWithHidden();
  await world.clock.advance(HOUR);
  const pages: (readonly number[])[] = [];

  for (let run = 1; run <= 3; run++) {
    await world.run({ requestsPerSecond: 1, durationMs: 4_000 });
    pages.push(provider.takePages());
  }

  expect(pages).toEqual([
    [1, 1, 2, 3],
    [1, 3, 4, 5],
    [1, 5, 6],
  ]);
  expect(world.publishedEnds()).toEqual([idOf(0)]);
});

test("an unreadable page does not keep a run from new and followed tasks", async () => {
  const { world, provider } = await startWatching([
    aiTask(1, "STARTED"),
    ...aiTasksOf(2, 40, "SUCCESS"),
  ]);
  provider.capPages(10);
  provider.show(aiTasksOf(1, 41, "SUCCESS"));
  provider.beforeRequest((query) => (query.get("page") === "4" ? json(403, {}) : undefined));
  await world.clock.advance(HOUR);

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.publishedEnds()).toEqual([idOf(41), idOf(1)]);
  expect(world.log.lines).toMatchObject([
    { message: "list of AI tasks not read to its end; the next run continues" },
  ]);
});

test("a clock that was once far ahead does not prevent further full reads", async () => {
  const { world, provider } = await startWithHidden();
  const watch = await world.ledger.read("ai-watch#local");
  const fullReadAt = world.clock.now() + 1_000 * HOUR;
  const value = { ...watch!.value, fullReadAt };
  await world.ledger.write({ ...watch!, version: watch!.version + 1, value });

  await world.run();

  expect(provider.takePages()).toEqual([1, 1, 2, 3, 4, 5]);
});

test("a full read without news writes its progress and its end only", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 25, "SUCCESS"));
  provider.capPages(10);
  await world.clock.advance(HOUR);
  const callsBefore = world.calls.length;

  await world.run();

  const writes = recordedBy(world.calls.slice(callsBefore));
  expect(writes).toEqual(Array.from({ length: 4 }, () => "ledger.write ai-watch#local"));
});

test("more new tasks than a run keeps in memory are recorded page by page, and each end is published once", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 5, "SUCCESS"));
  provider.show(aiTasksOf(1, 2_205, "SUCCESS"));

  const error = await world.run({ requestsPerSecond: 2 });
  const pages = provider.takePages();
  await world.run();

  expect(error).toBeUndefined();
  // After the 21st page there are too many tasks to keep.
  expect(pages).toEqual([...pagesTo(21), ...pagesTo(23)]);
  expect(world.publishedEnds()).toHaveLength(2_200);
  expect(new Set(world.publishedEnds()).size).toBe(2_200);
});

test("a page-by-page read that was cut off continues in the next run", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 5, "SUCCESS"));
  provider.show(aiTasksOf(1, 2_205, "SUCCESS"));

  await world.run({ requestsPerSecond: 1, durationMs: 31_000 });
  provider.takePages();
  await world.run();

  expect(provider.takePages()[1]).toBe(10);
  expect(new Set(world.publishedEnds()).size).toBe(2_200);
});

test("a ledger that fails during a full read fails the run", async () => {
  let isBroken = false;
  const { world } = await startWatching(aiTasksOf(1, 5, "SUCCESS"), ({ name }, effect) =>
    name === "ledger.write ai-watch#local" && isBroken
      ? Promise.reject(new Error("ledger away"))
      : effect(),
  );
  isBroken = true;
  await world.clock.advance(HOUR);

  const error = await world.run();

  expect(error).toMatchObject({ message: "ledger away" });
});

const pagesTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test("a provider that drops its oldest task during the first run does not make later runs read more", async () => {
  const { world, provider } = watchedWorld(aiTasksOf(1, 40, "SUCCESS"));
  provider.capPages(10);
  provider.beforeRequest((query) => {
    if (query.get("page") === "3") provider.show(aiTasksOf(2, 40, "SUCCESS"));
    return undefined;
  });
  await world.run();
  provider.takePages();

  await world.run();

  expect(provider.takePages()).toEqual([1]);
});
