import { describe, expect, test } from "vitest";
import {
  getPool,
  poolUpdateSchema,
  updatePool,
} from "../../../lib/contract/load-balancer-pools.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const ID = "9b8d3a10-0d8c-4c3c-9d2e-2d4b1d0e4a11";
const NAME_RULE =
  "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen";
const HTTP_RULE =
  "must be HTTP or HTTPS when any of these is set: http_method, http_version, url_path, expected_codes, domain_name";
const PATH_RULE = "a path such as /health, without ?, # or %";

const monitor = (change: object = {}) => ({
  healthmonitor: { delay: 10, timeout: 5, max_retries: 3, ...change },
});
const member = (change: object = {}) => ({
  members: [{ address: "10.0.0.1", protocol_port: 80, ...change }],
});
const session = (change: object = {}) => ({
  session_persistence: { type: "SOURCE_IP", ...change },
});

describe("the body of a pool update accepts", () => {
  test.each([
    {},
    { timeout_client_data: 0, timeout_member_connect: 0, timeout_member_data: 0 },
    {
      timeout_client_data: 86_400_000,
      timeout_member_connect: 86_400_000,
      timeout_member_data: 86_400_000,
    },
    { ca_secret_id: ID, crl_secret_id: ID, secret_id: ID },
    { lb_algorithm: "LEAST_CONNECTIONS", protocol: "PROXYV2", admin_state_up: false },
    { name: "abc" },
    { name: `a${"b ".repeat(30)}c.` },
    { members: [] },
    member(),
    member({ address: "::ffff:1.2.3.4", protocol_port: 1, weight: 1, monitor_port: 1 }),
    member({ address: "2001:db8::1", protocol_port: 65535, weight: 256, monitor_port: 65535 }),
    member({ id: ID, operating_status: "NO_MONITOR", subnet_id: ID, instance_id: null }),
    member({ monitor_address: "10.0.0.2", backup: true, admin_state_up: true }),
    monitor(),
    monitor({ delay: 1, timeout: 0, max_retries: 1, max_retries_down: 1 }),
    monitor({ delay: 2_147_483_647, timeout: 2_147_483, max_retries: 10, max_retries_down: 10 }),
    monitor({ type: "HTTPS", http_method: "TRACE", http_version: "1.1", url_path: "/" }),
    monitor({ type: null, http_method: "GET" }),
    monitor({ expected_codes: "200" }),
    monitor({ expected_codes: "200,202,300-302,401,403,404,500-504" }),
    monitor({ id: ID, operating_status: "ONLINE", provisioning_status: "ACTIVE" }),
    monitor({ type: "TLS-HELLO", http_method: null, url_path: null }),
    monitor({ url_path: "/a//b", domain_name: "d".repeat(253), expected_codes: "200,300-302" }),
    session(),
    session({ type: "APP_COOKIE", cookie_name: "JSESSION.ID", persistence_timeout: 0 }),
  ])("%j", (body) => {
    expect(bothWays(poolUpdateSchema(), body)).toEqual(accepted(body));
  });

  test.each([
    "ca_secret_id",
    "crl_secret_id",
    "healthmonitor",
    "members",
    "secret_id",
    "session_persistence",
    "timeout_client_data",
    "timeout_member_connect",
    "timeout_member_data",
  ])("null for %s", (field) => {
    expect(bothWays(poolUpdateSchema(), { [field]: null })).toEqual(accepted({ [field]: null }));
  });
});

describe("the body of a pool update refuses", () => {
  test.each(["timeout_client_data", "timeout_member_connect", "timeout_member_data"])(
    "%s outside 0 to 86400000",
    (field) => {
      expect(bothWays(poolUpdateSchema(), { [field]: -1 })).toEqual(
        refused(`${field}: at least 0`),
      );
      expect(bothWays(poolUpdateSchema(), { [field]: 86_400_001 })).toEqual(
        refused(`${field}: at most 86400000`),
      );
      expect(bothWays(poolUpdateSchema(), { [field]: 0.5 })).toEqual(
        refused(`${field}: a whole number`),
      );
    },
  );

  test.each([
    ["lb_algorithm: one of LEAST_CONNECTIONS, ROUND_ROBIN, SOURCE_IP", { lb_algorithm: null }],
    ["protocol: one of HTTP, HTTPS, PROXY, PROXYV2, TCP, UDP", { protocol: "http" }],
    ["name: a string, not null", { name: null }],
    ["admin_state_up: true or false, not null", { admin_state_up: null }],
    ["ca_secret_id: a UUID", { ca_secret_id: "my-secret" }],
    [`name: ${NAME_RULE}`, { name: "ab" }],
    [`name: ${NAME_RULE}`, { name: "a".repeat(64) }],
    [`name: ${NAME_RULE}`, { name: "abc-" }],
    [`name: ${NAME_RULE}`, { name: "abc " }],
    [`name: ${NAME_RULE}`, { name: ".abc" }],
    [`name: ${NAME_RULE}`, { name: "abc\n" }],
    ["members.0.address: an IPv4 or IPv6 address", member({ address: "my-host" })],
    ["members.0.address: an IPv4 or IPv6 address", member({ address: "10.0.0.256" })],
    ["members.0.address: an IPv4 or IPv6 address", member({ address: "::1]@[::2" })],
    ["members.0.address: required", { members: [{ protocol_port: 80 }] }],
    ["members.0.protocol_port: required", { members: [{ address: "10.0.0.1" }] }],
    ["members.0.protocol_port: at least 1", member({ protocol_port: 0 })],
    ["members.0.protocol_port: at most 65535", member({ protocol_port: 65536 })],
    ["members.0.weight: at least 1", member({ weight: 0 })],
    ["members.0.weight: at most 256", member({ weight: 257 })],
    ["members.0.monitor_port: at least 1", member({ monitor_port: 0 })],
    ["members.0.monitor_port: at most 65535", member({ monitor_port: 65536 })],
    ["members.0.id: a string, not null", member({ id: null })],
    ["members.0.port: unknown field", member({ port: 80 })],
    [
      "members.0.instance_id: give subnet_id or instance_id, not both",
      member({ subnet_id: ID, instance_id: ID }),
    ],
    ["healthmonitor.delay: at least 1", monitor({ delay: 0, timeout: -1 }), "timeout: at least 0"],
    ["healthmonitor.delay: at most 2147483647", monitor({ delay: 2_147_483_648 })],
    ["healthmonitor.timeout: at most 2147483", monitor({ delay: 2_147_485, timeout: 2_147_484 })],
    ["healthmonitor.timeout: must be below delay", monitor({ delay: 5, timeout: 5 })],
    ["healthmonitor.timeout: must be below delay", monitor({ delay: 5, timeout: 6 })],
    ["healthmonitor.max_retries: at least 1", monitor({ max_retries: 0 })],
    ["healthmonitor.max_retries: at most 10", monitor({ max_retries: 11 })],
    ...["", "any", "20", "99", "600", "200-", "200,", "302-300", "200;201"].map(
      (expected_codes): [string, object] => [
        "healthmonitor.expected_codes: status codes and ranges from 100 to 599, such as 200,202,300-302",
        monitor({ expected_codes }),
      ],
    ),
    ["healthmonitor.max_retries_down: at least 1", monitor({ max_retries_down: 0 })],
    ["healthmonitor.max_retries_down: at most 10", monitor({ max_retries_down: 11 })],
    ["healthmonitor.http_version: one of 1.0, 1.1", monitor({ http_version: "2" })],
    ["healthmonitor.domain_name: a host name", monitor({ domain_name: "d".repeat(254) })],
    [`healthmonitor.url_path: ${PATH_RULE}`, monitor({ url_path: "//evil" })],
    [`healthmonitor.url_path: ${PATH_RULE}`, monitor({ url_path: "/a?b" })],
    [`healthmonitor.url_path: ${PATH_RULE}`, monitor({ url_path: "health" })],
    ["healthmonitor.kind: unknown field", monitor({ kind: "TCP" })],
    [`healthmonitor.type: ${HTTP_RULE}`, monitor({ type: "TCP", url_path: "/health" })],
    [`healthmonitor.type: ${HTTP_RULE}`, monitor({ type: "PING", expected_codes: "200" })],
    [
      "session_persistence.cookie_name: requires type APP_COOKIE or HTTP_COOKIE",
      session({ cookie_name: "cookie" }),
    ],
    ["session_persistence.type: required", { session_persistence: {} }],
    [
      "session_persistence.type: one of APP_COOKIE, HTTP_COOKIE, SOURCE_IP",
      session({ type: "COOKIE" }),
    ],
    [
      `session_persistence.cookie_name: ${NAME_RULE}`,
      session({ type: "APP_COOKIE", cookie_name: "id" }),
    ],
    [
      "session_persistence.persistence_timeout: a whole number",
      session({ persistence_timeout: 1.5 }),
    ],
    ["healthmonitor_id: unknown field", { healthmonitor_id: ID }],
  ])("%s", (problem, body, ...more) => {
    const problems = [problem, ...more.map((other) => `healthmonitor.${other}`)];

    expect(bothWays(poolUpdateSchema(), body)).toEqual(refused(...problems));
  });
});

test("a nested object has to be complete", () => {
  expect(bothWays(poolUpdateSchema(), { healthmonitor: {} })).toEqual(
    refused(
      "healthmonitor.delay: required",
      "healthmonitor.timeout: required",
      "healthmonitor.max_retries: required",
    ),
  );
});

test("the pool id is converted to lower case, so that one pool has one lane", () => {
  const params = { project_id: 1, region_id: 2, pool_id: ID.toUpperCase() };

  expect(bothWays(updatePool.params, params)).toEqual(accepted({ ...params, pool_id: ID }));
});

test("ids in the body are converted to lower case, so that equal values compare as equal", () => {
  expect(bothWays(poolUpdateSchema(), { secret_id: ID.toUpperCase() })).toEqual(
    accepted({ secret_id: ID }),
  );
});

test("a pool's path accepts whole numbers and a UUID only", () => {
  const params = { project_id: null, region_id: 2.5, pool_id: "../x", extra: 1 };

  expect(bothWays(updatePool.params, params)).toEqual(
    refused(
      "project_id: a number, not null",
      "region_id: a whole number",
      "pool_id: a UUID",
      "extra: unknown field",
    ),
  );
});

test("a pool update may reply with an empty task list, because nothing had to change", () => {
  expect(received(updatePool.response, '{"tasks":[]}')).toEqual({ tasks: [] });
});

test("a pool record has the id of the task that locks it, or null", () => {
  const json = `{"id":"${ID}","name":"pool","task_id":null,"members":[]}`;

  expect(received(getPool.response, json)).toEqual({
    id: ID,
    name: "pool",
    task_id: null,
    members: [],
  });
  expect(received(getPool.response, `{"id":"${ID}","name":"pool"}`)).toEqual(["task_id: required"]);
});
