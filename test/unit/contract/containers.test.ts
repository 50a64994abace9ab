import { describe, expect, test } from "vitest";
import {
  containerUpdateSchema,
  getContainer,
  updateContainer,
} from "../../../lib/contract/containers.ts";
import { accepted, bothWays, received, refused, written } from "./both-ways.ts";

const TOPIC_RULE = "1 to 223 characters: dot-separated labels of a-z, 0-9 and inner hyphens";
const FLAVOR_RULE = "a size such as 250mCPU-512MiB";

describe("the body of a container update accepts", () => {
  test.each<object>([
    {},
    { description: "" },
    { description: "d".repeat(255) },
    { description: "😀".repeat(255) },
    { image: "i".repeat(230) },
    { listening_port: 1 },
    { listening_port: 65535 },
    { timeout: 0 },
    { timeout: 180 },
    { flavor: "250mCPU-512MiB" },
    { flavor: "1000mCPU-2048MB" },
    { flavor: "mCPU-MB" },
    { envs: {} },
    { envs: { PATH: "/bin", A: "", toString: "x", isLosslessNumber: "yes" } },
    { is_api_key_auth: false },
    { is_disabled: true, timeout: 5 },
    { logging: {} },
    { logging: { destination_region_id: 76, enabled: true } },
    { logging: { retention_policy: { period: 1 } } },
    { logging: { retention_policy: { period: 1825 } } },
    { logging: { topic_name: "a" } },
    { logging: { topic_name: "a".repeat(223) } },
    { logging: { topic_name: "a-1.b--2.3" } },
    { scale: { min: 0, max: 1 } },
    { scale: { min: 25, max: 25 } },
    { scale: { min: 0, max: 1, cooldown_period: 1 } },
    { scale: { min: 0, max: 1, cooldown_period: 3600 } },
    { scale: { min: 0, max: 1, triggers: { cpu: { threshold: 1 }, memory: { threshold: 99 } } } },
    { scale: { min: 0, max: 1, triggers: { http: { rate: 1, window: 1 } } } },
    { scale: { min: 0, max: 1, triggers: { http: { rate: 1000, window: 3600 } } } },
  ])("%j", (body) => {
    expect(bothWays(containerUpdateSchema(), body)).toEqual(accepted(body));
  });

  test.each([
    "commands",
    "description",
    "flavor",
    "image",
    "is_api_key_auth",
    "is_disabled",
    "listening_port",
    "pull_secret",
    "timeout",
  ])("null for %s", (field) => {
    expect(bothWays(containerUpdateSchema(), { [field]: null })).toEqual(
      accepted({ [field]: null }),
    );
  });

  test.each([
    { logging: { destination_region_id: null, retention_policy: null, topic_name: null } },
    { logging: { retention_policy: { period: null } } },
    { scale: { min: 0, max: 1, cooldown_period: null, triggers: null } },
    { scale: { min: 0, max: 1, triggers: { cpu: null, memory: null, http: null } } },
  ])("null inside %j", (body) => {
    expect(bothWays(containerUpdateSchema(), body)).toEqual(accepted(body));
  });
});

describe("the body of a container update refuses", () => {
  test.each([
    ["description: at most 255 characters", { description: "d".repeat(256) }],
    ["description: at most 255 characters", { description: "😀".repeat(256) }],
    ["image: at most 230 characters", { image: "i".repeat(231) }],
    ["listening_port: at least 1", { listening_port: 0 }],
    ["listening_port: at most 65535", { listening_port: 65536 }],
    ["listening_port: a whole number", { listening_port: 80.5 }],
    ["listening_port: a number", { listening_port: "80" }],
    ["timeout: at least 0", { timeout: -1 }],
    ["timeout: at most 180", { timeout: 181 }],
    [`flavor: ${FLAVOR_RULE}`, { flavor: "1vCPU-1GiB" }],
    [`flavor: ${FLAVOR_RULE}`, { flavor: "250mCPU-512MiB\n" }],
    [`flavor: ${FLAVOR_RULE}`, { flavor: `${"1".repeat(13)}mCPU-512MiB` }],
    ["envs.A: a string", { envs: { A: 1 } }],
    ["envs.A: a string, not null", { envs: { A: null } }],
    ["envs: an object", { envs: ["A=1"] }],
    [
      "is_api_key_auth: enabling key authentication is temporarily unavailable",
      { is_api_key_auth: true },
    ],
    ["is_disabled: true or false", { is_disabled: "true" }],
    ["logging.enabled: true or false, not null", { logging: { enabled: null } }],
    ["logging.retention_policy.period: required", { logging: { retention_policy: {} } }],
    [
      "logging.retention_policy.period: at least 1",
      { logging: { retention_policy: { period: 0 } } },
    ],
    [
      "logging.retention_policy.period: at most 1825",
      { logging: { retention_policy: { period: 1826 } } },
    ],
    [`logging.topic_name: ${TOPIC_RULE}`, { logging: { topic_name: "" } }],
    [`logging.topic_name: ${TOPIC_RULE}`, { logging: { topic_name: "a".repeat(224) } }],
    [`logging.topic_name: ${TOPIC_RULE}`, { logging: { topic_name: "a..b" } }],
    [`logging.topic_name: ${TOPIC_RULE}`, { logging: { topic_name: "a.-b" } }],
    [`logging.topic_name: ${TOPIC_RULE}`, { logging: { topic_name: "Topic" } }],
    ["scale.max: required", { scale: { min: 0 } }],
    ["scale.min: required", { scale: { max: 1 } }],
    ["scale.min: at least 0", { scale: { min: -1, max: 1 } }],
    ["scale.max: at least 1", { scale: { min: 0, max: 0 } }],
    ["scale.max: at most 25", { scale: { min: 0, max: 26 } }],
    ["scale.min: must not exceed max", { scale: { min: 2, max: 1 } }],
    ["scale.cooldown_period: at least 1", { scale: { min: 0, max: 1, cooldown_period: 0 } }],
    ["scale.cooldown_period: at most 3600", { scale: { min: 0, max: 1, cooldown_period: 3601 } }],
    ["scale.triggers.cpu.threshold: at least 1", triggers({ cpu: { threshold: 0 } })],
    ["scale.triggers.cpu.threshold: at most 99", triggers({ cpu: { threshold: 100 } })],
    ["scale.triggers.memory.threshold: at least 1", triggers({ memory: { threshold: 0 } })],
    ["scale.triggers.memory.threshold: at most 99", triggers({ memory: { threshold: 100 } })],
    ["scale.triggers.http.rate: at least 1", triggers({ http: { rate: 0, window: 1 } })],
    ["scale.triggers.http.rate: at most 1000", triggers({ http: { rate: 1001, window: 1 } })],
    ["scale.triggers.http.window: at least 1", triggers({ http: { rate: 1, window: 0 } })],
    ["scale.triggers.http.window: at most 3600", triggers({ http: { rate: 1, window: 3601 } })],
    ["scale.triggers.gpu: unknown field", triggers({ gpu: null })],
    ["logging.topic: unknown field", { logging: { topic: "a" } }],
    ["constructor: unknown field", { constructor: "x" }],
    ["commands: must be well-formed Unicode", { commands: "half an emoji: \ud83d" }],
  ])("%s", (problem, body) => {
    expect(bothWays(containerUpdateSchema(), body)).toEqual(refused(problem));
  });
});

function triggers(value: unknown) {
  return { scale: { min: 0, max: 1, triggers: value } };
}

test("a long hostile topic name is refused without delay", () => {
  const hostile = `${"a".repeat(222)}!`;
  const startedAt = performance.now();

  const outcome = written(containerUpdateSchema(), { logging: { topic_name: hostile } });

  expect(outcome).toEqual([`logging.topic_name: ${TOPIC_RULE}`]);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});

test("a variable named __proto__ is refused and not silently dropped", () => {
  const body: unknown = JSON.parse('{"envs":{"__proto__":"x","A":"1"}}');

  expect(written(containerUpdateSchema(), body)).toEqual([
    "envs.__proto__: no variable may have this name",
  ]);
});

test("a container update without a body, or with null, is refused", () => {
  expect(written(updateContainer.body, undefined)).toEqual([": required"]);
  expect(bothWays(updateContainer.body, null)).toEqual(refused(": an object, not null"));
});

test.each(["my-container", "a/b", "...", "%2e%2e", "with space", "größe"])(
  "the container name %j is accepted",
  (name) => {
    const params = { project_id: 1, region_id: 2, container_name: name };

    expect(bothWays(updateContainer.params, params)).toEqual(accepted(params));
  },
);

test.each([
  ["container_name: must not be empty", ""],
  ["container_name: must not be . or ..", "."],
  ["container_name: must not be . or ..", ".."],
  ["container_name: must be well-formed Unicode", "a\udc00"],
  ["container_name: a string", 5],
])("a path is refused with %s", (problem, container_name) => {
  const params = { project_id: 1, region_id: 2, container_name };

  expect(bothWays(updateContainer.params, params)).toEqual(refused(problem));
});

test("project and region are whole numbers", () => {
  const params = { project_id: "1", region_id: 7.5, container_name: "a" };

  expect(bothWays(updateContainer.params, params)).toEqual(
    refused("project_id: a number", "region_id: a whole number"),
  );
});

test("the reply to a container update has task ids and may have additional fields", () => {
  const json = '{"tasks":["50f53a35-42ed-40c4-82b2-5a37fb3e00bc","b"],"request_id":"r"}';

  expect(received(updateContainer.response, json)).toEqual({
    tasks: ["50f53a35-42ed-40c4-82b2-5a37fb3e00bc", "b"],
    request_id: "r",
  });
  expect(received(updateContainer.response, '{"tasks":[]}')).toEqual({ tasks: [] });
  expect(received(updateContainer.response, '{"tasks":null}')).toEqual(["tasks: a list, not null"]);
  expect(received(updateContainer.response, '{"tasks":[5]}')).toEqual(["tasks.0: a string"]);
});

const NAME_RULE = "letters, digits and underscores, no digit first, at most 255 characters";

test.each([
  ["_", ""],
  ["A1_b", "v".repeat(255)],
  ["N".repeat(255), "😀".repeat(255)],
])("a variable may be named %s", (name, value) => {
  const body = { envs: { [name]: value } };

  expect(bothWays(updateContainer.body, body)).toEqual(accepted(body));
});

test.each(["", "1A", "A-B", "A B", "ä", "N".repeat(256), "A\n"])(
  "a variable cannot be named %j",
  (name) => {
    expect(bothWays(updateContainer.body, { envs: { [name]: "v" } })).toEqual(
      refused(`envs.${name}: ${NAME_RULE}`),
    );
  },
);

test("a variable's value has at most 255 characters", () => {
  expect(bothWays(updateContainer.body, { envs: { A: "v".repeat(256) } })).toEqual(
    refused("envs.A: at most 255 characters"),
  );
});

test("get-container takes the name of the container, but no query and no body", () => {
  const params = { project_id: 1, region_id: 2, container_name: "a/b" };

  expect(bothWays(getContainer.params, params)).toEqual(accepted(params));
  expect(bothWays(getContainer.params, { ...params, container_name: ".." })).toEqual(
    refused("container_name: must not be . or .."),
  );
  expect(bothWays(getContainer.query, { with_logs: true })).toEqual(
    refused("with_logs: unknown field"),
  );
  expect(bothWays(getContainer.body, {})).toEqual(refused(": this operation takes no body"));
});

const container = {
  name: "my-container",
  description: "",
  image: "nginx:latest",
  flavor: "80mCPU-128MiB",
  source: "cloud",
  namespace: "default",
  address: "https://e.test/",
  status: "Ready",
  status_message: null,
  listening_port: 80,
  timeout: 120,
  is_disabled: false,
  is_api_key_auth: false,
  envs: {},
  pull_secret: null,
  scale: { min: 1, max: 3 },
  deploy_status: { total: 1, ready: 1 },
  created_at: "2025-11-20T09:00:00Z",
};
const read = (change: object) =>
  received(getContainer.response, JSON.stringify({ ...container, ...change }));

test.each<object>([
  {},
  { commands: null, logging: null },
  { commands: "run", logging: { enabled: true, topic_name: "t" }, pull_secret: "secret" },
  { status: "a status of tomorrow", status_message: "why", source: "iate", new_field: {} },
  { scale: { min: 0, max: 99, triggers: null }, listening_port: 0, timeout: 999 },
])("a container record with %j parses unchanged", (change) => {
  expect(read(change)).toEqual({ ...container, ...change });
});

test.each([
  ["name: required", { name: undefined }],
  ["status_message: required", { status_message: undefined }],
  ["envs.A: a string", { envs: { A: 1 } }],
  ["scale.max: required", { scale: { min: 0 } }],
  ["deploy_status.ready: required", { deploy_status: { total: 1 } }],
  ["logging.enabled: required", { logging: {} }],
  ["is_disabled: true or false, not null", { is_disabled: null }],
])("a container record is refused with %s", (problem, change) => {
  expect(read(change)).toEqual([problem]);
});
