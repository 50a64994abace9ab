import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, UNKNOWN_ID } from "./target.ts";

const { call, own, one } = await openTarget();
const known = own("ai_tasks");
/** Tasks without a plan: time does not change them. */
const settled = one("ai_tasks", ({ plan }) => plan.length === 0);

const list = async (query: Record<string, string> = {}): Promise<Answer["body"]> =>
  (await call("GET", `/streaming/ai/tasks?${new URLSearchParams(query)}`)).body;
const idsOf = ({ results }: Answer["body"]): string[] =>
  results.map(({ task_id }: { task_id: string }) => task_id);
const everything = { limit: "1000" };
const allIds = known.map(({ task_id }) => task_id).sort();

test("the list has all AI tasks of the client, each with its documented fields", async () => {
  const all = await list(everything);

  expect(all).toMatchObject({ count: known.length, next: null, previous: null });
  expect(idsOf(all).sort()).toEqual(allIds);
  const { task_id, status, progress, task_name, task_data } = settled;
  const { started_at, completed_at = null } = settled;
  const isTimed = started_at !== null && completed_at !== null;
  const seconds = isTimed ? (Date.parse(completed_at) - Date.parse(started_at)) / 1000 : null;
  expect(all.results).toContainEqual({
    ...{ task_id, status, progress, task_name, task_data },
    processing_time: { ...(started_at && { started_at }), completed_at, total_time_sec: seconds },
  });
});

test("without parameters the list has ten tasks, the last started first", async () => {
  const starts = new Map(known.map(({ task_id, started_at }) => [task_id, started_at ?? "9999"]));

  const page = await list();

  const inOrder = idsOf(await list(everything)).map((id) => starts.get(id));
  expect(inOrder).toEqual([...starts.values()].sort().reverse());
  expect(page).toMatchObject({ count: known.length, previous: null });
  expect(idsOf(page)).toEqual(idsOf(await list({ page: "1", limit: "10" })));
  expect(page.results).toHaveLength(Math.min(10, known.length));
});

test.each(["task_id", "status", "task_name"])(
  "ordering=%s sorts ascending by it",
  async (field) => {
    const { results } = await list({ ...everything, ordering: field });

    const values: string[] = results.map((task: Record<string, string>) => task[field]);
    expect(values).toHaveLength(known.length);
    expect(values).toEqual([...values].sort());
  },
);

test("ordering=started_at reverses the default order", async () => {
  const ascending = idsOf(await list({ ...everything, ordering: "started_at" }));

  expect(ascending).toEqual(idsOf(await list(everything)).reverse());
});

test("task_id finds the one task", async () => {
  const found = await list({ task_id: settled.task_id });
  const none = await list({ task_id: UNKNOWN_ID });

  expect(idsOf(found)).toEqual([settled.task_id]);
  expect(none).toEqual({ count: 0, next: null, previous: null, results: [] });
});

test.each(["task_name", "status"] as const)("%s finds the tasks that have it", async (field) => {
  const wanted = settled[field];
  const all = (await list(everything)).results.filter(
    (task: Record<string, string>) => task[field] === wanted,
  );

  const found = await list({ ...everything, [field]: wanted });

  expect(found.results).toEqual(all);
  expect(idsOf(found)).toContain(settled.task_id);
  expect(found.count).toBeLessThan(known.length);
});

const dayOf = (instant: string) => new Date(instant).toISOString().slice(0, 10);
const second = new Date(settled.date_created).toISOString().slice(0, 19);
const inOtherZone = new Date(Date.parse(settled.date_created) + 7_200_000).toISOString();

test.each([
  ["a day in UTC", dayOf(settled.date_created)],
  ["an instant", `${second}Z`],
  ["an instant in another zone", `${inOtherZone.slice(0, 19)}+02:00`],
  ["an instant without a zone, which is one of UTC", second],
])("date_created finds by %s", async (_, date_created) => {
  const isWanted = ({ date_created: created }: (typeof known)[number]) =>
    date_created.length === 10
      ? dayOf(created) === date_created
      : Math.floor(Date.parse(created) / 1000) === Date.parse(`${second}Z`) / 1000;

  const found = await list({ ...everything, date_created });

  const expected = known.filter(isWanted).map(({ task_id }) => task_id);
  expect(expected).toContain(settled.task_id);
  expect(idsOf(found).sort()).toEqual(expected.sort());
});

test("date_created finds nothing on a day without tasks", async () => {
  expect((await list({ date_created: "1999-12-31" })).count).toBe(0);
});

test.each([
  ["the whole task_id", settled.task_id],
  ["a part of task_id", settled.task_id.slice(-9)],
  ["a part of task_name", settled.task_name.slice(1, -1)],
  ["a part of status", settled.status.slice(0, -1)],
  ["a part of task_data", String(Object.values(settled.task_data)[0]).slice(1, -1)],
])("search finds by %s", async (_, search) => {
  const found = await list({ ...everything, search });

  expect(idsOf(found)).toContain(settled.task_id);
  for (const task of found.results) expect(JSON.stringify(task)).toContain(search);
});

test("search finds nothing by a text that no task has", async () => {
  expect((await list({ search: UNKNOWN_ID })).count).toBe(0);
});

test("several filters find the tasks that match all of them", async () => {
  const { task_id, status, task_name, date_created } = settled;
  const other = task_name === "transcription" ? "content-moderation" : "transcription";
  const all = { task_id, status, task_name, search: status, date_created: dayOf(date_created) };

  expect(idsOf(await list(all))).toEqual([task_id]);
  expect(idsOf(await list({ ...all, task_name: other }))).toEqual([]);
});

test("next and previous lead through all pages with the same filters", async () => {
  const query = { limit: "2", ordering: "task_id", task_name: settled.task_name };
  const whole = idsOf(await list({ ...query, ...everything }));
  const pages = [await list(query)];
  while (pages.at(-1).next !== null && pages.length < 50) {
    pages.push((await call("GET", `/streaming/ai/tasks?${pages.at(-1).next}`)).body);
  }
  const back = await call("GET", `/streaming/ai/tasks?${pages[1].previous}`);

  expect(pages.flatMap(idsOf)).toEqual(whole);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages[0].previous).toBeNull();
  expect(idsOf(back.body)).toEqual(idsOf(pages[0]));
});

test("next is present if one task is left, and null on the last page", async () => {
  const short = await list({ limit: String(known.length - 1) });
  const exact = await list({ limit: String(known.length) });

  expect(short.next).toEqual(expect.any(String));
  expect((await call("GET", `/streaming/ai/tasks?${short.next}`)).body.results).toHaveLength(1);
  expect(exact.next).toBeNull();
});

test("a page past the end is empty, with count and previous", async () => {
  const past = await list({ page: "1000" });

  expect(past).toMatchObject({ count: known.length, next: null, results: [] });
  expect(past.previous).toEqual(expect.any(String));
});

test.each([
  ["page=0", "page"],
  ["page=-1", "page"],
  ["page=1.5", "page"],
  ["page=two", "page"],
  ["limit=0", "limit"],
  ["limit=-1", "limit"],
  ["task_id=no-uuid", "task_id"],
  ["task_name=translation", "task_name"],
  ["status=DONE", "status"],
  ["status=success", "status"],
  ["date_created=yesterday", "date_created"],
  ["ordering=progress", "ordering"],
  ["ordering=-started_at", "ordering"],
  ["offset=1", "offset"],
])("the query %s is refused with the name of the parameter", async (query, field) => {
  const refused = await call("GET", `/streaming/ai/tasks?${query}`);

  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(new RegExp(`^${field}: `));
});

test.each([
  ["page", "1", "2"],
  ["limit", "1", "2"],
])("%s may be %s and %s", async (field, lowest, next) => {
  const answers = [
    await call("GET", `/streaming/ai/tasks?${field}=${lowest}`),
    await call("GET", `/streaming/ai/tasks?${field}=${next}`),
  ];

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[0]?.body.results).not.toEqual(answers[1]?.body.results);
});
