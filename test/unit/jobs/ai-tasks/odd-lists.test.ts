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

/** A provider that answers each page as the test says, and asked by id knows nothing. */
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
  ["a progress that is no whole number", { progress: 33.3 }],
  ["a progress in words", { progress: "100" }],
  ["null for its name", { task_name: null }],
  ["null for its data", { task_data: null }],
  ["no data", { task_data: undefined }],
  ["data that name a prototype", { task_data: JSON.parse('{"__proto__":{"a":1}}') }],
])("a task with %s is published as any other", async (_what, own) => {
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
  ["an id that is none", shown(9, "SUCCESS", { task_id: "abc" })],
  ["no id", shown(9, "SUCCESS", { task_id: undefined })],
  ["no status", shown(9, "SUCCESS", { status: null })],
  ["nothing at all", null],
])("an entry with %s is left out and warned of once, and hides no other", async (_what, odd) => {
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

test("a followed task whose own reply cannot be used stays followed", async () => {
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

test("a server that knows no pages, and always names a next one, is read twice", async () => {
  const { world, pages } = scripted(() => ({ count: 3, next: "page=2", results: listed(1, 3) }));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(pages).toEqual([1, 2]);
  expect((await world.watchRecord())?.open).toHaveLength(3);
});

test("a server that shows its last page behind the end is read until that repeats", async () => {
  const { world, pages } = scripted((page) => ({
    count: 20,
    results: page === 1 ? listed(11, 20) : listed(1, 10),
  }));

  const error = await world.run();

  expect(error).toBeUndefined();
  expect(pages).toEqual([1, 2, 3]);
  expect((await world.watchRecord())?.open).toHaveLength(20);
});

test("a server that names no next page, though there are more tasks, is read on", async () => {
  const { world, pages } = scripted((page) => ({
    count: 20,
    next: null,
    results: page === 1 ? listed(11, 20) : listed(1, 10),
  }));

  await world.run();

  expect(pages).toEqual([1, 2]);
  expect((await world.watchRecord())?.open).toHaveLength(20);
});

test("a server that counts more tasks than it shows is read until a page is empty", async () => {
  const { world, pages } = scripted((page) => ({
    count: 1_000,
    next: null,
    results: page === 1 ? listed(1, 10) : [],
  }));

  await world.run();

  expect(pages).toEqual([1, 2]);
});

test("a task that stands twice on a page is published once", async () => {
  const { world, provider } = await startWatching([]);
  const twice = [shown(1, "SUCCESS"), shown(1, "SUCCESS")];
  provider.afterReply(() => ({ count: 2, next: null, results: twice }));

  await world.run();
  await world.run();

  expect(world.publishedEnds()).toEqual([idOf(1)]);
});
