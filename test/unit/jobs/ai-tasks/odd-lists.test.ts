import { expect, test } from "vitest";
import { json } from "../../../support/provider.ts";
import { aiTask, aiTasksOf, idOf } from "./ai-provider.ts";
import { createAiWorld } from "./ai-world.ts";
import { startWatching } from "./start-watching.ts";

const shown = (n: number, status: string, own: object = {}) => ({
  task_id: idOf(n),
  status,
  progress: 5,
  task_name: "transcription",
  task_data: {},
  ...own,
});

const listed = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => shown(to - index, "STARTED"));

/** A provider with pages that the test sets, which knows no task by its id. */
const scripted = (answer: (page: number) => object) => {
  const pages: number[] = [];
  const world = createAiWorld({
    provider: () => ({
      apiKey: "key",
      async fetch(request) {
        const page = Number(new URL(request.url).searchParams.get("page"));
        pages.push(page);
        return json(200, answer(page));
      },
    }),
  });
  return { world, pages };
};

test.each<[string, object]>([
  ["a progress that is not a whole number", { progress: 33.3 }],
  ["a progress in words", { progress: "100" }],
  ["null for its name", { task_name: null }],
  ["null for its data", { task_data: null }],
  ["no data", { task_data: undefined }],
  ["data with a prototype's name", { task_data: JSON.parse('{"__proto__":{"a":1}}') }],
])("a task with %s is published like any other", async (_what, own) => {
  const { world, provider } = await startWatching([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);
  const odd = shown(9, "SUCCESS", own);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS")]);
  provider.afterReply((body) => ({
    ...(body as object),
    results: [odd, ...(body as { results: object[] }).results],
  }));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(world.publishedEnds().toSorted()).toEqual([idOf(2), idOf(9)]);
});

test.each<[string, unknown]>([
  ["an invalid id", shown(9, "SUCCESS", { task_id: "abc" })],
  ["no id", shown(9, "SUCCESS", { task_id: undefined })],
  ["no status", shown(9, "SUCCESS", { status: null })],
  ["nothing at all", null],
])("an entry with %s is left out with one warning, and hides no other", async (_what, odd) => {
  const { world, provider } = await startWatching([aiTask(1, "SUCCESS"), aiTask(2, "STARTED")]);
  provider.show([aiTask(1, "SUCCESS"), aiTask(2, "SUCCESS")]);
  provider.afterReply((body) => ({
    ...(body as object),
    results: [odd, odd, ...(body as { results: object[] }).results],
  }));

  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(2)]);
  expect(world.log.lines.map(({ message }) => message)).toEqual([
    "AI tasks without a usable id or status are left out",
  ]);
});

test("a followed task with an unusable reply stays followed", async () => {
  const { world, provider } = await startWatching([
    aiTask(1, "STARTED"),
    ...aiTasksOf(2, 9, "SUCCESS"),
  ]);
  provider.capPages(5);
  provider.beforeRequest((query) =>
    query.has("task_id")
      ? json(200, { count: 1, results: [shown(1, "SUCCESS", { status: null })] })
      : undefined,
  );

  await world.run();

  expect((await world.watchRecord())?.open).toEqual([
    { taskId: idOf(1), taskName: "transcription" },
  ]);
});

test("a server that ignores pages, and always names a next one, is read twice", async () => {
  const { world, pages } = scripted(() => ({ count: 3, next: "page=2", results: listed(1, 3) }));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(pages).toEqual([1, 2]);
  expect((await world.watchRecord())?.open).toHaveLength(3);
});

test("a server that repeats its last page behind the end is read until the first repeat", async () => {
  const { world, pages } = scripted((page) => ({
    count: 20,
    results: page === 1 ? listed(11, 20) : listed(1, 10),
  }));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(pages).toEqual([1, 2, 3]);
  expect((await world.watchRecord())?.open).toHaveLength(20);
});

test("a server that names no next page although it has more tasks is read to its end", async () => {
  const { world, pages } = scripted((page) => ({
    count: 20,
    next: null,
    results: page === 1 ? listed(11, 20) : listed(1, 10),
  }));

  await world.run();

  expect(pages).toEqual([1, 2]);
  expect((await world.watchRecord())?.open).toHaveLength(20);
});

test("a server that counts more tasks than it lists is read until a page is empty", async () => {
  const { world, pages } = scripted((page) => ({
    count: 1_000,
    next: null,
    results: page === 1 ? listed(1, 10) : [],
  }));

  await world.run();

  expect(pages).toEqual([1, 2]);
});

test("a task that a page lists twice is published once", async () => {
  const { world, provider } = await startWatching([]);
  const twice = [shown(1, "SUCCESS"), shown(1, "SUCCESS")];
  provider.afterReply(() => ({ count: 2, next: null, results: twice }));

  await world.run();
  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(1)]);
});
