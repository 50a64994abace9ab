import { expect, test } from "vitest";
import type { Answer } from "../../support/http-exchange.ts";
import { openTarget, place, refusedFields, UNKNOWN_ID, uniqueName } from "./target.ts";

const { call, follow, one, elsewhere } = await openTarget();
const pool = one("load_balancer_pools", ({ task_id }) => task_id === null);
const POOL = `/cloud/v1/lbpools/${place(pool)}/${pool.id}`;
const SUCCESSOR = POOL.replace("/v1/", "/v2/");

const read = async (): Promise<Answer["body"]> => (await call("GET", POOL)).body;

/** Updates the pool, waits for the tasks, if any, and returns the pool. */
const update = async (body: object, path = POOL): Promise<Answer["body"]> => {
  const accepted = await call("PATCH", path, { body });
  expect(accepted.status).toBe(200);
  for (const id of accepted.body.tasks) {
    expect(await follow(id)).toMatchObject({ state: "FINISHED", task_type: "patch_lbpool" });
  }
  return read();
};

const member = (host: number, more: object = {}) => ({
  address: `192.0.2.${host}`,
  protocol_port: 80,
  ...more,
});
const MONITOR = { delay: 10, timeout: 5, max_retries: 2 };

test.each([
  ["the deprecated path", POOL],
  ["its successor", SUCCESSOR],
])("%s replaces given fields and keeps omitted ones", async (_, path) => {
  const before = await read();
  const name = uniqueName("pool");
  const timeout_member_data = before.timeout_member_data === 1000 ? 2000 : 1000;

  const after = await update({ name, timeout_member_data }, path);

  expect(after).toEqual({ ...before, name, timeout_member_data });
});

test("only the deprecated path has Deprecation and Link headers", async () => {
  const deprecated = await call("PATCH", POOL, { body: {} });
  const successor = await call("PATCH", SUCCESSOR, { body: {} });
  const reading = await call("GET", POOL);

  // RFC 9745: the instant in Unix seconds.
  expect(deprecated.headers.get("Deprecation")).toMatch(/^@\d{10}$/);
  expect(deprecated.headers.get("Link")).toBe(`<${SUCCESSOR}>; rel="successor-version"`);
  expect(successor.headers.get("Deprecation")).toBeNull();
  expect(reading.headers.get("Deprecation")).toBeNull();
});

test.each([
  ["the deprecated path", POOL],
  ["its successor", SUCCESSOR],
])("an update by %s that changes nothing returns no tasks and locks nothing", async (_, path) => {
  const before = await read();
  const { name, lb_algorithm, timeout_client_data, healthmonitor } = before;

  const empty = await call("PATCH", path, { body: {} });
  const equal = await call("PATCH", path, {
    body: { name, lb_algorithm, timeout_client_data, healthmonitor },
  });

  expect([empty.status, equal.status]).toEqual([200, 200]);
  expect([empty.body, equal.body]).toEqual([{ tasks: [] }, { tasks: [] }]);
  expect(await read()).toEqual(before);
});

test("members with the same address and port keep their id in the new order, and others get one", async () => {
  const first = await update({ members: [member(1), member(2), member(2, { protocol_port: 81 })] });
  const [one, two, otherPort] = first.members.map(({ id }: { id: string }) => id);
  const list = [member(3, { id: one }), member(2, { weight: 7 }), member(1, { weight: 256 })];

  const second = await update({ members: list });

  expect(new Set([one, two, otherPort]).size).toBe(3);
  expect(second.members).toMatchObject([
    { address: "192.0.2.3", weight: 1, id: expect.not.stringMatching(`${one}|${otherPort}`) },
    { address: "192.0.2.2", weight: 7, id: two },
    { address: "192.0.2.1", weight: 256, id: one },
  ]);
});

test("null or an empty list removes all members", async () => {
  const members = [member(1, { subnet_id: null, backup: true, operating_status: "NO_MONITOR" })];
  const full = await update({ members });
  const emptied = await update({ members: [] });
  await update({ members });

  expect(full.members).toMatchObject([{ backup: true, operating_status: expect.any(String) }]);
  expect(emptied.members).toEqual([]);
  expect((await update({ members: null })).members).toEqual([]);
});

test("a health monitor is replaced as a whole and cleared by null", async () => {
  const http = { type: "HTTP", url_path: "/health", http_method: "GET", expected_codes: "200,202" };
  const full = await update({ healthmonitor: { ...MONITOR, ...http, domain_name: "a.example" } });
  const replaced = await update({ healthmonitor: { delay: 20, timeout: 19, max_retries: 10 } });
  const cleared = await update({ healthmonitor: null });

  expect(full.healthmonitor).toMatchObject({ ...MONITOR, ...http, domain_name: "a.example" });
  expect(replaced.healthmonitor).toMatchObject({ delay: 20, timeout: 19, max_retries: 10 });
  for (const field of ["url_path", "http_method", "expected_codes", "domain_name"]) {
    expect(replaced.healthmonitor[field] ?? null).toBeNull();
  }
  expect(cleared.healthmonitor).toBeNull();
});

test("session persistence is replaced as a whole and cleared by null", async () => {
  const cookie = { type: "APP_COOKIE", cookie_name: "session" };
  const full = await update({ session_persistence: cookie });
  const replaced = await update({ session_persistence: { type: "SOURCE_IP" } });
  const cleared = await update({ session_persistence: null });

  expect(full.session_persistence).toMatchObject(cookie);
  expect(replaced.session_persistence.type).toBe("SOURCE_IP");
  expect(replaced.session_persistence.cookie_name ?? null).toBeNull();
  expect(cleared.session_persistence).toBeNull();
});

test("the three secrets are set and cleared by null", async () => {
  const ids = { ca_secret_id: UNKNOWN_ID, crl_secret_id: UNKNOWN_ID, secret_id: UNKNOWN_ID };
  const none = { ca_secret_id: null, crl_secret_id: null, secret_id: null };

  expect(await update(ids)).toMatchObject(ids);
  expect(await update(none)).toMatchObject(none);
});

test.each([
  ["LEAST_CONNECTIONS", "HTTP"],
  ["ROUND_ROBIN", "HTTPS"],
  ["SOURCE_IP", "PROXY"],
  ["SOURCE_IP", "PROXYV2"],
  ["SOURCE_IP", "TCP"],
  ["SOURCE_IP", "UDP"],
])("the algorithm %s and the protocol %s are accepted", async (lb_algorithm, protocol) => {
  expect(await update({ lb_algorithm, protocol })).toMatchObject({ lb_algorithm, protocol });
});

const TIMEOUTS = ["timeout_client_data", "timeout_member_connect", "timeout_member_data"];
const allTimeouts = (ms: number | null) => Object.fromEntries(TIMEOUTS.map((name) => [name, ms]));

test.each([0, 1, 86_399_999, 86_400_000, null])("the three timeouts may be %s", async (ms) => {
  expect(await update(allTimeouts(ms))).toMatchObject(allTimeouts(ms));
});

test("the task ends in ERROR and changes nothing when a member's subnet does not exist", async () => {
  const before = await read();
  const body = { members: [member(9, { subnet_id: UNKNOWN_ID })], name: uniqueName("never") };

  const accepted = await call("PATCH", POOL, { body });
  const task = await follow(accepted.body.tasks[0]);

  expect(task).toMatchObject({ state: "ERROR", error: expect.stringContaining(UNKNOWN_ID) });
  expect(await read()).toEqual(before);
});

const REFUSED: readonly (readonly [string, unknown])[] = [
  ...TIMEOUTS.flatMap((name) => [-1, 86_400_001, 0.5].map((ms) => [name, { [name]: ms }] as const)),
  ["lb_algorithm", { lb_algorithm: "RANDOM" }],
  ["lb_algorithm", { lb_algorithm: null }],
  ["protocol", { protocol: "SCTP" }],
  ["name", { name: "ab" }],
  ["name", { name: "p".repeat(64) }],
  ["secret_id", { secret_id: "no-uuid" }],
  ["members.0.address", { members: [{ address: "host", protocol_port: 80 }] }],
  ["members.0.protocol_port", { members: [{ address: "192.0.2.1" }] }],
  ["members.0.protocol_port", { members: [member(1, { protocol_port: 65_536 })] }],
  ["members.0.weight", { members: [member(1, { weight: 257 })] }],
  ["members.1", { members: [member(1), member(1, { weight: 2 })] }],
  ["healthmonitor.max_retries", { healthmonitor: { delay: 10, timeout: 5 } }],
  ["healthmonitor.timeout", { healthmonitor: { ...MONITOR, timeout: 10 } }],
  ["session_persistence.type", { session_persistence: { cookie_name: "session" } }],
  ["listeners", { listeners: [] }],
  ["body", undefined],
];

test.each(REFUSED)(
  "an update that breaks a rule of %s is refused and changes nothing: %o",
  async (field, body) => {
    const before = await read();

    const refused = [await call("PATCH", POOL, { body }), await call("PATCH", SUCCESSOR, { body })];

    expect(refused.map(refusedFields)).toEqual([[field], [field]]);
    expect(await read()).toEqual(before);
  },
);

test.each([
  ...elsewhere(pool).map(([name, where]) => [name, POOL.replace(place(pool), where)]),
  ["an unknown id", POOL.replace(pool.id, UNKNOWN_ID)],
])("the pool returns 404 by %s on both paths", async (_, path) => {
  const paths = [path, path.replace("/v1/", "/v2/")];

  const answers = await Promise.all(paths.map((one) => call("PATCH", one, { body: {} })));

  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
});
