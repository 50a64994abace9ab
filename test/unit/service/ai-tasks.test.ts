import { afterEach, expect, test, vi } from "vitest";
import type { AiTaskRecord } from "../../../lib/service/state/ai-tasks.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { Answer } from "../../support/http-exchange.ts";
import { startService } from "./harness.ts";

const LIST = "/streaming/ai/tasks";
const idOf = (letter: string) => `${letter.repeat(8)}-0000-4000-8000-000000000000`;
const letterOf = ({ task_id }: { task_id: string }) => task_id.slice(0, 1);

const task = (
  letter: string,
  own: Pick<AiTaskRecord, "status" | "date_created" | "started_at"> & Partial<AiTaskRecord>,
): AiTaskRecord => ({
  client_id: 1,
  task_id: idOf(letter),
  task_name: "transcription",
  task_data: { url: `https://e.test/${letter}-clip.mp4`, audio_language: "eng" },
  progress: 0,
  plan: [],
  plan_from: null,
  ...own,
});

const MODERATION = { task_name: "content-moderation", task_data: { category: "Sport" } } as const;
const EARLY = "2025-11-08T08:00:00Z";

/** Six tasks of the first client, which every field sorts differently, and one of the second client. */
const TASKS = [
  task("f", { status: "RECEIVED", date_created: "2025-11-07T00:00:00Z", started_at: null }),
  task("c", {
    status: "PENDING",
    date_created: "2025-11-06T01:30:00+02:00",
    started_at: EARLY,
    task_data: { url: "https://e.test/Interview.mp4", audio_language: "ger" },
  }),
  task("e", {
    status: "REVOKED",
    date_created: "2025-11-06T23:59:59Z",
    // Later than the start of c, although its text is smaller.
    started_at: "2025-11-08T07:00:00-02:00",
    ...MODERATION,
  }),
  task("a", {
    status: "SUCCESS",
    date_created: "2025-11-05T23:59:59.999Z",
    started_at: "2025-11-08T10:00:00Z",
  }),
  task("d", {
    status: "RETRY",
    date_created: "2025-11-06T12:00:00.250Z",
    started_at: "2025-11-08T11:00:00Z",
    ...MODERATION,
  }),
  task("b", {
    status: "FAILURE",
    date_created: "2025-11-06T00:00:00Z",
    started_at: "2025-11-08T12:00:00Z",
    ...MODERATION,
  }),
  task("9", { client_id: 2, status: "SUCCESS", date_created: EARLY, started_at: EARLY }),
];

const startWithTasks = async () => {
  const started = await startService({ state: (builtIn) => ({ ...builtIn, ai_tasks: TASKS }) });
  const list = async (query: Record<string, string> = {}): Promise<Answer["body"]> =>
    (await started.send("GET", `${LIST}?${new URLSearchParams(query)}`)).body;
  /** The letters of the found tasks in the order of the response. */
  const find = async (query: Record<string, string>): Promise<string> => {
    const { count, results } = await list(query);
    expect(count).toBe(results.length);
    return results.map(letterOf).join("");
  };
  return { ...started, list, find };
};

afterEach(() => {
  vi.unstubAllEnvs();
});

test("the list shows the documented fields of a task and no internal field", async () => {
  const { send } = await startService();

  const answer = await send("GET", `${LIST}?limit=2&status=STARTED`);

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    count: 2,
    next: null,
    previous: null,
    results: [
      {
        task_id: "aafe70c6-0000-4000-8000-327b65f76712",
        status: "STARTED",
        progress: 10,
        task_name: "content-moderation",
        task_data: {
          task_name: "content-moderation",
          url: "https://demo-files.gvideo.io/ai_demo_subtitles_nudity_detection.mp4",
          category: "nsfw",
        },
        processing_time: {
          started_at: "2025-11-12T10:00:30Z",
          completed_at: null,
          total_time_sec: null,
        },
      },
      expect.objectContaining({
        task_id: "aafe70c6-0000-4000-8000-327b65f76711",
        task_name: "transcription",
      }),
    ],
  });
});

test.each([
  ["tasks not yet started, then the latest start first, by default", {}, "fbdaec"],
  ["the earliest start first, what has not started last", { ordering: "started_at" }, "ceadbf"],
  ["by id", { ordering: "task_id" }, "abcdef"],
  ["by status, as text", { ordering: "status" }, "bcfdea"],
  ["by method, equal ones by id", { ordering: "task_name" }, "bdeacf"],
])("the list is ordered: %s", async (_, query, expected) => {
  const { find } = await startWithTasks();

  expect(await find(query)).toBe(expected);
});

test.each<[string, Record<string, string>, string]>([
  ["an id", { task_id: idOf("d") }, "d"],
  ["an id in upper case", { task_id: idOf("d").toUpperCase() }, "d"],
  ["an unknown id", { task_id: idOf("0") }, ""],
  ["the id of another client's task", { task_id: idOf("9") }, ""],
  ["transcription", { task_name: "transcription" }, "fac"],
  ["content moderation", { task_name: "content-moderation" }, "bde"],
  ["a status", { status: "RETRY" }, "d"],
  ["a status that only another client's task has too", { status: "SUCCESS" }, "a"],
  ["a status of no task", { status: "STARTED" }, ""],
  [
    "all filters at once",
    {
      task_id: idOf("d"),
      task_name: "content-moderation",
      status: "RETRY",
      date_created: "2025-11-06",
      search: "sport",
    },
    "d",
  ],
  ["filters without a common task", { status: "RETRY", task_name: "transcription" }, ""],
])("the list is filtered by %s", async (_, query, expected) => {
  const { find } = await startWithTasks();

  expect(await find(query)).toBe(expected);
});

test.each([
  ["2025-11-05", "ac"],
  ["2025-11-06", "bde"],
  ["2025-11-07", "f"],
  ["2025-11-08", ""],
  ["2025-11-06T00:00:00Z", "b"],
  ["2025-11-06T00:00", "b"],
  ["2025-11-05T23:59:59Z", "a"],
  ["2025-11-05T23:59:59.999Z", "a"],
  ["2025-11-05T23:59:59.998Z", ""],
  ["2025-11-05T23:30:00Z", "c"],
  ["2025-11-06T01:30:00+02:00", "c"],
  ["2025-11-05T18:30:00-05:00", "c"],
  ["2025-11-06T12:00:00Z", "d"],
  ["2025-11-06T12:00:00", "d"],
  ["2025-11-06T12:00:00.25", "d"],
  ["2025-11-06T12:00:00.251Z", ""],
  ["2025-11-06T12:00:00.000Z", ""],
  ["2025-11-06T11:59:59Z", ""],
  ["2025-11-06T12:00:01Z", ""],
])(
  "date_created matches %s in UTC, in every time zone of the service: %j",
  async (when, expected) => {
    for (const zone of ["UTC", "America/New_York", "Asia/Kolkata"]) {
      vi.stubEnv("TZ", zone);
      const { find } = await startWithTasks();

      expect(await find({ date_created: when }), zone).toBe(expected);
    }
  },
);

test.each([
  ["a whole id", idOf("d"), "d"],
  ["a part of an id", "dddd-0000", "d"],
  ["a method, partly", "moderat", "bde"],
  ["a status, partly and in lower case", "fail", "b"],
  ["a value of task_data, partly and in upper case", "INTERVIEW", "c"],
  ["a value of task_data in lower case", "sport", "bde"],
  ["words of different fields in any order", "sport  rev content", "e"],
  ["words with a line end and a tab between them", "sport\n\trev", "e"],
  ["words of which one is in no field", "sport zebra", ""],
  ["nothing", "", "fbdaec"],
  ["only spaces", "  ", "fbdaec"],
  ["the day of the creation, which is not searched", "2025-11", ""],
  ["text that runs from one field into the next", "successhttps", ""],
  ["a part of another client's id", "9999", ""],
])("a search for %s looks in all four fields", async (_, search, expected) => {
  const { find } = await startWithTasks();

  expect(await find({ search })).toBe(expected);
});

test("a search includes values nested in task_data", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      ai_tasks: [{ ...TASKS[0]!, task_data: { labels: ["alpha", { name: "Beta" }] } }],
    }),
  });
  const counts: number[] = [];
  for (const word of ["alpha", "beta", "object"]) {
    counts.push((await send("GET", `${LIST}?search=${word}`)).body.count);
  }

  expect(counts).toEqual([1, 1, 0]);
});

test("each client sees only its own tasks", async () => {
  const { send, list } = await startWithTasks();

  const second = await send("GET", LIST, {
    headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` },
  });

  expect((await list()).count).toBe(6);
  expect(second.body).toMatchObject({ count: 1, results: [{ task_id: idOf("9") }] });
});

test.each([
  ["page=0", "page: at least 1"],
  ["limit=0", "limit: at least 1"],
  ["limit=ten", "limit: a number"],
  ["page=01", "page: a number"],
  ["task_id=5", "task_id: a UUID"],
  ["ordering=-started_at", "ordering: one of task_id, status, task_name, started_at"],
  [
    "date_created=2025-11-06T12:00:00+02:00",
    "date_created: a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z",
  ],
  ["offset=1", "offset: unknown field"],
])("the query %s is refused with the name of the parameter", async (query, error) => {
  const { send } = await startService();

  const refused = await send("GET", `${LIST}?${query}`);

  expect(refused.status).toBe(400);
  expect(refused.body).toEqual({ error });
});

const timesOf = async (
  send: Awaited<ReturnType<typeof startService>>["send"],
  taskId: string,
): Promise<unknown> => {
  const { body } = await send("GET", `/streaming/ai/tasks?task_id=${taskId}`);
  return body.results[0].processing_time;
};

test("a task shows its start, and after its end also its end and duration", async () => {
  const { send, clock } = await startService();
  const ended = "aafe70c6-0000-4000-8000-327b65f76701";
  const atWork = "aafe70c6-0000-4000-8000-327b65f76711";
  const startedAt = "2025-11-11T10:00:30Z";

  const before = await timesOf(send, atWork);
  await clock.advance(130_000);
  const again = await timesOf(send, atWork);
  await clock.advance(110_000);
  const after = await timesOf(send, atWork);

  expect(await timesOf(send, ended)).toEqual({
    started_at: "2025-11-01T10:00:30Z",
    completed_at: "2025-11-01T10:05:00Z",
    total_time_sec: 270,
  });
  const underWay = { started_at: startedAt, completed_at: null, total_time_sec: null };
  expect([before, again]).toEqual([underWay, underWay]);
  const completedAt = clock.now();
  expect(after).toEqual({
    started_at: startedAt,
    completed_at: new Date(completedAt).toISOString(),
    total_time_sec: (completedAt - Date.parse(startedAt)) / 1000,
  });
});

test("a task that has not started, or has no recorded end, shows no times", async () => {
  const waiting = { status: "PENDING", progress: 0, started_at: null } as const;
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      ai_tasks: builtIn.ai_tasks.map((task, at) =>
        at === 0 ? { ...task, ...waiting } : { ...task, completed_at: null },
      ),
    }),
  });

  expect(await timesOf(send, "aafe70c6-0000-4000-8000-327b65f76701")).toEqual({
    completed_at: null,
    total_time_sec: null,
  });
  expect(await timesOf(send, "aafe70c6-0000-4000-8000-327b65f76702")).toEqual({
    started_at: "2025-11-02T10:00:30Z",
    completed_at: null,
    total_time_sec: null,
  });
});
