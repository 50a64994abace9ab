import { expect, test } from "vitest";
import { getContainer } from "../../../lib/contract/containers.ts";
import { bothWays, received, refused, taken } from "./both-ways.ts";

test("reading a container takes its name, no query and no body", () => {
  const params = { project_id: 1, region_id: 2, container_name: "a/b" };

  expect(bothWays(getContainer.params, params)).toEqual(taken(params));
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
])("a container record with %j is read as it is", (change) => {
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
