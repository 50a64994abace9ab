import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { recordedBy, startWatching } from "./start-watching.ts";

const WAITING = { started_at: null };
const HOUR = 3_600_000;
const LEASE = "ledger.write lease#watch-ai-tasks/local";

test("a run that finds nothing new is one request and writes its lease only", async () => {
  const { world, provider } = await startWatching([
    ...aiTasksOf(1, 250, "SUCCESS"),
    aiTask(251, "STARTED"),
  ]);
  const callsBefore = world.calls.length;

  await world.run();

  expect(provider.takePages()).toEqual([1]);
  const calls = world.calls.slice(callsBefore);
  expect(calls.filter((call) => call.startsWith("fetch"))).toHaveLength(1);
  // Reads: the ended tasks of the newest page, the lease at the start, and the watch at the start and the end.
  expect(calls.filter((call) => call.startsWith("ledger.read"))).toHaveLength(99 + 1 + 2);
  expect(calls.filter((call) => call.startsWith("ledger.write"))).toEqual([LEASE, LEASE]);
});

test("a new task costs two pages, and nothing afterwards", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 250, "SUCCESS"));
  provider.show(aiTasksOf(1, 251, "SUCCESS"));

  await world.run();
  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(251)]);
  expect(provider.takePages()).toEqual([1, 2, 1]);
});

test("pages are read down to the first with known tasks only", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 100, "SUCCESS"));
  provider.capPages(10);
  provider.show([...aiTasksOf(1, 100, "SUCCESS"), ...aiTasksOf(101, 125, "STARTED")]);

  await world.run();

  expect(provider.takePages()).toEqual([1, 2, 3, 4]);
  expect((await world.watchRecord())?.open).toHaveLength(25);
});

test("more new tasks than a page holds are published, each once", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 30, "SUCCESS"));
  provider.capPages(10);
  provider.show(aiTasksOf(1, 65, "SUCCESS"));

  await world.run();
  provider.takePages();
  await world.run();

  const expected = Array.from({ length: 35 }, (_, index) => idOf(31 + index));
  expect(world.publishedEnds().toSorted()).toEqual(expected);
  expect(provider.takePages()).toEqual([1]);
});

test("a page of waiting tasks only does not hide tasks that started below it", async () => {
  const waiting = [11, 12, 13].map((n) => aiTask(n, "PENDING", WAITING));
  const { world, provider } = await startWatching([...aiTasksOf(1, 9, "SUCCESS"), ...waiting]);
  provider.capPages(3);
  provider.show([...aiTasksOf(1, 10, "SUCCESS"), ...waiting]);

  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(10)]);
});

test("an end below a page of known ends is published within an hour", async () => {
  const revoked = [11, 12, 13].map((n) => aiTask(n, "REVOKED", WAITING));
  const { world, provider } = await startWatching([...aiTasksOf(1, 9, "SUCCESS"), ...revoked]);
  provider.capPages(3);
  provider.show([...aiTasksOf(1, 10, "SUCCESS"), ...revoked]);
  await world.clock.advance(HOUR - 1);
  await world.run();
  const before = world.publishedEnds();
  await world.clock.advance(1);

  await world.run();

  expect(before).toEqual([]);
  expect(world.publishedEnds()).toEqual([idOf(10)]);
});

test("new tasks during a read hide no other", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 30, "SUCCESS"));
  provider.capPages(10);
  let newest = 50;
  provider.show(aiTasksOf(1, newest, "SUCCESS"));
  provider.beforeRequest(() => {
    newest += 3;
    provider.show(aiTasksOf(1, newest, "SUCCESS"));
    return undefined;
  });

  await world.run();
  provider.beforeRequest(() => undefined);
  await world.run();

  const expected = Array.from({ length: newest - 30 }, (_, index) => idOf(31 + index));
  expect([...world.publishedEnds()].sort()).toEqual(expected);
});

test("a task that moves up unseen after a removal is published within an hour", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 30, "SUCCESS"));
  provider.capPages(10);
  const all = aiTasksOf(1, 55, "SUCCESS");
  provider.show(all);
  // The first page has 55 to 46. Without 50, 45 moves up to it before the second page is read.
  provider.beforeRequest((query) => {
    if (query.get("page") === "2") provider.show(all.filter(({ task_id }) => task_id !== idOf(50)));
    return undefined;
  });

  await world.run();
  const first = world.publishedEnds();
  // The page that shows 45 now is no longer the first.
  provider.capPages(5);
  await world.clock.advance(HOUR);
  await world.run();

  expect(first).not.toContain(idOf(45));
  expect(world.publishedEnds().filter((id) => id === idOf(45))).toHaveLength(1);
  expect(new Set(world.publishedEnds()).size).toBe(25);
});

test("a server that names no next page is read until a page is empty", async () => {
  const { world, provider } = await startWatching([]);
  provider.capPages(10);
  provider.afterReply((body) => ({ ...(body as object), next: undefined }));
  provider.show(aiTasksOf(1, 25, "STARTED"));

  await world.run();

  expect(provider.takePages()).toEqual([1, 2, 3, 4]);
  expect((await world.watchRecord())?.open).toHaveLength(25);
});

test("a list ends where the server refuses a page", async () => {
  const { world, provider } = await startWatching([]);
  provider.capPages(10);
  provider.afterReply((body) => ({ ...(body as object), next: undefined }));
  provider.beforeRequest((query) =>
    query.get("page") === "3" ? json(404, { detail: "Invalid page." }) : undefined,
  );
  provider.show(aiTasksOf(1, 20, "STARTED"));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(provider.takePages()).toEqual([1, 2, 3]);
  expect((await world.watchRecord())?.open).toHaveLength(20);
});

test("a read that fails behind new tasks records none of them, and the next run finds them", async () => {
  const { world, provider } = await startWatching(aiTasksOf(1, 30, "SUCCESS"));
  provider.capPages(10);
  provider.show([...aiTasksOf(1, 45, "SUCCESS"), aiTask(46, "STARTED")]);
  provider.beforeRequest((query) => (query.get("page") === "2" ? json(403, {}) : undefined));
  const callsBefore = world.calls.length;

  const error = await world.run();
  const records = recordedBy(world.calls.slice(callsBefore));
  provider.beforeRequest(() => undefined);
  await world.run();

  expect(error).toMatchObject({ code: "forbidden" });
  expect(records).toEqual([]);
  expect(world.publishedEnds()).toHaveLength(15);
});
