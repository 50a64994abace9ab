import { describe, expect, test } from "vitest";
import {
  getPolicy,
  removePolicyVolumes,
  updatePolicy,
} from "../../../lib/contract/lifecycle-policies.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const NAME_RULE =
  "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen";

describe("the body of a policy update", () => {
  test.each([
    {},
    { name: "abc" },
    { name: "p".repeat(63) },
    { status: "active" },
    { name: "nightly 02.00", status: "paused" },
  ])("accepts %j", (body) => {
    expect(bothWays(updatePolicy.body, body)).toEqual(accepted(body));
  });

  test.each([
    [`name: ${NAME_RULE}`, { name: "" }],
    [`name: ${NAME_RULE}`, { name: "p".repeat(64) }],
    ["name: a string, not null", { name: null }],
    ["status: one of active, paused", { status: "ACTIVE" }],
    ["status: one of active, paused", { status: null }],
    ["action: unknown field", { action: "volume_snapshot" }],
  ])("refuses %s", (problem, body) => {
    expect(bothWays(updatePolicy.body, body)).toEqual(refused(problem));
  });
});

describe("the body of a removal of volumes", () => {
  test.each([{ volume_ids: [] }, { volume_ids: ["a", "a"] }])("accepts %j", (body) => {
    expect(bothWays(removePolicyVolumes.body, body)).toEqual(accepted(body));
  });

  test.each([
    ["volume_ids: required", {}],
    ["volume_ids: a list, not null", { volume_ids: null }],
    ["volume_ids: a list", { volume_ids: "a" }],
    ["volume_ids.1: a string", { volume_ids: ["a", 5] }],
    ["volume_ids.0: must be well-formed Unicode", { volume_ids: ["\udead"] }],
    ["volumes: unknown field", { volume_ids: [], volumes: [] }],
  ])("refuses %s", (problem, body) => {
    expect(bothWays(removePolicyVolumes.body, body)).toEqual(refused(problem));
  });
});

const OPERATIONS = [removePolicyVolumes, updatePolicy, getPolicy];

test.each(OPERATIONS)("$id identifies its policy by a whole number", ({ params }) => {
  const path = { project_id: 1, region_id: 2, policy_id: 3 };

  expect(bothWays(params, path)).toEqual(accepted(path));
  expect(bothWays(params, { ...path, policy_id: "3" })).toEqual(refused("policy_id: a number"));
  expect(bothWays(params, { ...path, policy_id: 3.5 })).toEqual(
    refused("policy_id: a whole number"),
  );
});

test.each(OPERATIONS)("$id takes need_volumes as true, false or absent", ({ query }) => {
  for (const asked of [{}, { need_volumes: true }, { need_volumes: false }]) {
    expect(bothWays(query, asked)).toEqual(accepted(asked));
  }
  expect(bothWays(query, { need_volumes: "true" })).toEqual(refused("need_volumes: true or false"));
  expect(bothWays(query, { need_volumes: null, volumes: true })).toEqual(
    refused("need_volumes: true or false, not null", "volumes: unknown field"),
  );
});

test("get-policy takes no body", () => {
  expect(bothWays(getPolicy.body, {})).toEqual(refused(": this operation takes no body"));
});

const policy = (change: object) => ({
  id: 1,
  name: "nightly",
  action: "volume_snapshot",
  project_id: 1,
  region_id: 2,
  status: "active",
  user_id: 3,
  schedules: [],
  ...change,
});
const schedule = { id: "s", max_quantity: 1, owner: "lifecycle_policy", owner_id: 1, user_id: 3 };

test.each([
  policy({}),
  policy({ volumes: null }),
  policy({ volumes: [{ volume_id: "v", volume_name: "disk" }] }),
  policy({
    schedules: [{ ...schedule, type: "cron", hour: "1", day: null, retention_time: null }],
  }),
  policy({ schedules: [{ ...schedule, type: "interval", hours: 6, weeks: null, new_field: {} }] }),
  policy({ new_field: 5 }),
])("the policy record %j parses unchanged", (record) => {
  for (const { response } of OPERATIONS) {
    expect(received(response, JSON.stringify(record))).toEqual(record);
  }
});

test.each([
  ["id: a whole number", { id: 1.5 }],
  ["action: required", { action: undefined }],
  ["status: one of active, paused", { status: "deleted" }],
  ["schedules: a list, not null", { schedules: null }],
  ["volumes.0.volume_name: required", { volumes: [{ volume_id: "v" }] }],
  ["volumes.0.volume_id: required", { volumes: [{ volume_name: "disk" }] }],
])("a policy record is refused with %s", (problem, change) => {
  expect(received(getPolicy.response, JSON.stringify(policy(change)))).toEqual([problem]);
});

test("the problem of an unknown schedule type has its path", () => {
  const record = policy({ schedules: [{ ...schedule, type: "moon" }] });

  expect(received(updatePolicy.response, JSON.stringify(record))).toEqual([
    "schedules.0.type: one of cron, interval",
  ]);
});
