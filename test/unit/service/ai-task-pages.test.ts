import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { startService } from "./harness.ts";

const LIST = "/streaming/ai/tasks";

/** The built-in tasks by number, 1 to 12, in the order of their start. */
const numbersOf = (body: Answer["body"]): number[] =>
  body.results.map(({ task_id }: { task_id: string }) => Number(task_id.slice(-2)));

const startWithPages = async () => {
  const { send } = await startService();
  const page = async (query: string) => {
    const { body } = await send("GET", `${LIST}?${query}`);
    return { ...body, numbers: numbersOf(body) };
  };
  return { page };
};

test("a page has ten tasks by default, and links to the next and the previous one", async () => {
  const { page } = await startWithPages();

  const first = await page("");
  const second = await page(first.next);
  const firstAgain = await page(second.previous);

  expect(first).toMatchObject({
    count: 12,
    next: "page=2",
    previous: null,
    numbers: [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
  });
  expect(second).toMatchObject({ count: 12, next: null, previous: "page=1", numbers: [2, 1] });
  expect(firstAgain.numbers).toEqual(first.numbers);
});

test.each([
  ["limit=12", null, null, 12],
  ["limit=13", null, null, 12],
  ["limit=11", "limit=11&page=2", null, 11],
  ["limit=1", "limit=1&page=2", null, 1],
  ["limit=6&page=2", null, "limit=6&page=1", 6],
  ["limit=5&page=2", "limit=5&page=3", "limit=5&page=1", 5],
  ["limit=5&page=3", null, "limit=5&page=2", 2],
  ["limit=5&page=4", null, "limit=5&page=3", 0],
  [
    "page=9007199254740991&limit=9007199254740991",
    null,
    "page=9007199254740990&limit=9007199254740991",
    0,
  ],
])("the page %s has %j as next and %j as previous link", async (query, next, previous, size) => {
  const { page } = await startWithPages();

  const got = await page(query);
  const sorted = (link: string | null) =>
    link && new URLSearchParams(link).toString().split("&").sort();

  expect(got.count).toBe(12);
  expect(sorted(got.next)).toEqual(sorted(next));
  expect(sorted(got.previous)).toEqual(sorted(previous));
  expect(got.numbers).toHaveLength(size);
});

test("links keep filters, order and page size, to the last page and back", async () => {
  const { page } = await startWithPages();

  let at = await page("task_name=transcription&search=MP4%20eng&ordering=started_at&limit=3");
  const there = [at.numbers];
  while (at.next !== null) {
    at = await page(at.next);
    there.push(at.numbers);
  }
  const back = [at.numbers];
  while (at.previous !== null) {
    at = await page(at.previous);
    back.unshift(at.numbers);
  }

  expect(there).toEqual([[1, 3, 5], [7, 9, 10], [11]]);
  expect(back).toEqual(there);
});

test("a link keeps the offset of a time", async () => {
  const { page } = await startWithPages();

  const second = await page(
    `date_created=${encodeURIComponent("2025-11-03T12:00:00+02:00")}&page=2`,
  );
  const first = await page(second.previous);

  expect(second).toMatchObject({ count: 1, numbers: [] });
  expect(first).toMatchObject({ count: 1, numbers: [3] });
});
