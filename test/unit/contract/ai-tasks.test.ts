import { describe, expect, test } from "vitest";
import { listAiTasks } from "../../../lib/contract/ai-tasks.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const STATUS_RULE = "one of FAILURE, PENDING, RECEIVED, RETRY, REVOKED, STARTED, SUCCESS";
const NAME_RULE = "one of transcription, content-moderation";
const DATE_RULE = "a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z";
const ORDERING_RULE = "one of task_id, status, task_name, started_at";
const TASK_ID = "aafe70c6-0000-4000-8000-327b65f76711";

describe("the query of the list of AI tasks accepts", () => {
  test.each<object>([
    {},
    { task_id: TASK_ID },
    { task_name: "transcription" },
    { task_name: "content-moderation" },
    { date_created: "2024-02-29" },
    { date_created: "2026-01-31T23:59:59Z" },
    { date_created: "2026-01-31T23:59:59.123456Z" },
    { date_created: "2026-01-31T23:59:59+05:30" },
    { date_created: "2026-01-31T23:59:59" },
    { date_created: "2026-01-31T23:59" },
    { search: "" },
    { search: "😀 & = ? #" },
    { page: 1 },
    { page: 9007199254740991 },
    { limit: 1 },
    { limit: 9007199254740991 },
    {
      task_id: TASK_ID,
      task_name: "transcription",
      status: "SUCCESS",
      date_created: "2026-01-31",
      ordering: "started_at",
      search: "eng",
      page: 2,
      limit: 20,
    },
  ])("%j", (query) => {
    expect(bothWays(listAiTasks.query, query)).toEqual(accepted(query));
  });

  test.each(["FAILURE", "PENDING", "RECEIVED", "RETRY", "REVOKED", "STARTED", "SUCCESS"])(
    "the status %s",
    (status) => {
      expect(bothWays(listAiTasks.query, { status })).toEqual(accepted({ status }));
    },
  );

  test.each(["task_id", "status", "task_name", "started_at"])("the ordering %s", (ordering) => {
    expect(bothWays(listAiTasks.query, { ordering })).toEqual(accepted({ ordering }));
  });
});

describe("the query of the list of AI tasks refuses", () => {
  test.each<[string, object]>([
    ["task_id: a UUID", { task_id: "" }],
    ["task_id: a UUID", { task_id: TASK_ID.slice(1) }],
    ["task_id: a UUID", { task_id: `${TASK_ID}0` }],
    ["task_id: a string, not null", { task_id: null }],
    [`task_name: ${NAME_RULE}`, { task_name: "translation" }],
    [`task_name: ${NAME_RULE}`, { task_name: "Transcription" }],
    [`task_name: ${NAME_RULE}`, { task_name: null }],
    [`status: ${STATUS_RULE}`, { status: "success" }],
    [`status: ${STATUS_RULE}`, { status: "" }],
    [`status: ${STATUS_RULE}`, { status: ["SUCCESS", "FAILURE"] }],
    [`date_created: ${DATE_RULE}`, { date_created: "" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-01" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-02-29" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-13-01" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-1-1" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-01-31T24:00:00Z" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-01-31 12:00:00Z" }],
    [`date_created: ${DATE_RULE}`, { date_created: "2026-01-31T12:00:00 02:00" }],
    [`date_created: ${DATE_RULE}`, { date_created: "yesterday" }],
    [`date_created: ${DATE_RULE}`, { date_created: 1769860800 }],
    [`date_created: ${DATE_RULE}`, { date_created: null }],
    [`ordering: ${ORDERING_RULE}`, { ordering: "-started_at" }],
    [`ordering: ${ORDERING_RULE}`, { ordering: "progress" }],
    [`ordering: ${ORDERING_RULE}`, { ordering: "" }],
    ["search: a string, not null", { search: null }],
    ["search: must be well-formed Unicode", { search: "\ud83d" }],
    ["page: at least 1", { page: 0 }],
    ["page: at least 1", { page: -1 }],
    ["page: a whole number", { page: 1.5 }],
    ["page: a number", { page: "1" }],
    ["limit: at least 1", { limit: 0 }],
    ["limit: a whole number", { limit: 9.5 }],
    ["limit: a number, not null", { limit: null }],
    ["offset: unknown field", { offset: 10 }],
  ])("%s: %j", (problem, query) => {
    expect(bothWays(listAiTasks.query, query)).toEqual(refused(problem));
  });

  test("several invalid parameters at once, with a problem for each", () => {
    expect(
      bothWays(listAiTasks.query, { page: 0, limit: 0, status: "DONE", colour: "red" }),
    ).toEqual(
      refused(
        `status: ${STATUS_RULE}`,
        "page: at least 1",
        "limit: at least 1",
        "colour: unknown field",
      ),
    );
  });
});

test("the list of AI tasks has neither path parameters nor a body", () => {
  expect(bothWays(listAiTasks.params, { project_id: 1 })).toEqual(
    refused("project_id: unknown field"),
  );
  expect(bothWays(listAiTasks.body, {})).toEqual(refused(": this operation takes no body"));
});

const task = {
  task_id: TASK_ID,
  status: "STARTED",
  progress: 10,
  task_name: "transcription",
  task_data: { url: "https://e.test/v.mp4", task_name: "transcription", audio_language: "eng" },
};
const { progress: _, task_name: __, ...leanTask } = task;
const page = (change: object) => ({
  count: 1,
  next: "page=2",
  previous: "page=1",
  results: [task],
  ...change,
});
const read = (reply: unknown) => received(listAiTasks.response, JSON.stringify(reply));

test.each<[string, object]>([
  ["the document's", page({})],
  ["with null at the ends of the list", page({ next: null, previous: null })],
  ["without links", { count: 0, results: [] }],
  ["with the method in task_data only", page({ results: [leanTask] })],
  ["without task_data", page({ results: [{ ...leanTask, task_data: undefined }] })],
  ["with null for progress", page({ results: [{ ...task, progress: null }] })],
  ["with empty task_data", page({ results: [{ ...task, task_data: {} }] })],
  [
    "with an unknown status and method",
    page({ results: [{ ...task, status: "PAUSED", task_name: "dubbing" }] }),
  ],
  [
    "with fields of newer servers",
    page({
      results: [
        {
          ...task,
          client_id: 5,
          processing_time: { started_at: "2026-01-31T12:00:00Z", completed_at: null },
        },
      ],
      total_pages: 7,
    }),
  ],
])("a reply %s parses unchanged", (_name, reply) => {
  expect(read(reply)).toEqual(reply);
});

test.each<[string, object]>([
  ["count: required", { results: [] }],
  ["count: at least 0", page({ count: -1 })],
  ["count: a number", page({ count: "1" })],
  ["results: required", { count: 0 }],
  ["results: a list, not null", page({ results: null })],
  ["next: a string", page({ next: 2 })],
  ["previous: a string", page({ previous: 1 })],
])("a reply is refused with %s", (problem, reply) => {
  expect(read(reply)).toEqual([problem]);
});

test.each<[string, object]>([
  ["progress", { progress: 0.5 }],
  ["progress", { progress: "100" }],
  ["task_name", { task_name: null }],
  ["task_data", { task_data: null }],
  ["task_data", { task_data: "{}" }],
])("an invalid %s is omitted from its task: %j", (field, odd) => {
  expect(read(page({ results: [{ ...task, ...odd }] }))).toEqual(
    page({ results: [{ ...task, [field]: undefined }] }),
  );
});

test.each<[string, unknown]>([
  ["an invalid id", { ...task, task_id: "1" }],
  ["null for its status", { ...task, status: null }],
  ["no content", null],
])("an entry with %s becomes undefined, and the other entries stay", (_what, odd) => {
  expect(read(page({ results: [odd, task] }))).toEqual(page({ results: [undefined, task] }));
});
