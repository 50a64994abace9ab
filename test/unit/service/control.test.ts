import { setImmediate as letOthersRun } from "node:timers/promises";
import { describe, expect, it, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { closeAfterEach, startControlled, TASK_DURATION_MS, TOKEN } from "./control-harness.ts";
import { CONTAINER, POLICY } from "./harness.ts";

closeAfterEach();

const ERROR = {
  exception_class: expect.any(String),
  message: expect.any(String),
  request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
};

/** Every route: method, path, and a body that it accepts. */
const ROUTES: readonly [method: string, path: string, body: unknown][] = [
  ["GET", "/clock", undefined],
  ["POST", "/clock/advance", { by: "1s" }],
  ["POST", "/clock/freeze", {}],
  ["POST", "/clock/resume", {}],
  ["GET", "/state", undefined],
  ["PUT", "/state", builtInState()],
  ["POST", "/state/reset", {}],
  ["GET", "/snapshots", undefined],
  ["PUT", "/snapshots/one", {}],
  ["POST", "/snapshots/one/restore", {}],
  ["DELETE", "/snapshots/one", undefined],
  ["GET", "/requests", undefined],
  ["DELETE", "/requests", undefined],
  ["GET", "/faults", undefined],
  ["POST", "/faults", { operation: "*", kind: "truncated" }],
  ["DELETE", "/faults/fault-1", undefined],
  ["DELETE", "/faults", undefined],
  ["GET", "/prices", undefined],
  ["PATCH", "/prices", { region_id: 76 }],
];
const CHANGES = ROUTES.filter(([method]) => method !== "GET");

describe("who may use the controls", () => {
  it.each(ROUTES)("%s %s opens with the token", async (method, path, body) => {
    const { control, faults } = await startControlled();
    await control("PUT", "/snapshots/one");
    await control("POST", "/faults", { body: { operation: "*", kind: "truncated" } });

    const { status } = await control(method, path, { body });

    expect([status, faults]).toEqual([expect.toBeOneOf([200, 204]), []]);
  });

  it.each(ROUTES)("%s %s refuses a request without the token", async (method, path, body) => {
    const { control } = await startControlled();
    const as = async (authorization: string | null) =>
      control(method, path, { body, headers: { authorization } });

    const answers = [
      await as(null),
      await as("Bearer wrong-token-of-the-controls"),
      await as(`Bearer ${TOKEN}x`),
      await as(`apikey ${BUILT_IN_API_KEYS.first}`),
      await as(`Bearer ${BUILT_IN_API_KEYS.first}`),
      await as(`apikey ${TOKEN}`),
      await as(TOKEN),
    ];

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(answers.map((answer) => answer.body)).toEqual(
      answers.map(() => ({ ...ERROR, exception_class: "not_authenticated" })),
    );
    expect(JSON.stringify(answers)).not.toContain(TOKEN);
    expect(answers[0]?.headers.get("www-authenticate")).toBe("Bearer");
  });

  it.each(ROUTES)("%s %s refuses a page of another origin", async (method, path, body) => {
    const { control, service } = await startControlled();
    const as = async (headers: Record<string, string>) =>
      (await control(method, path, { body, headers })).status;

    expect([
      await as({ origin: "https://evil.example" }),
      await as({ origin: "http://127.0.0.1:1" }),
      await as({ origin: "null" }),
      await as({ "sec-fetch-site": "cross-site" }),
      await as({ "sec-fetch-site": "same-site" }),
    ]).toEqual([403, 403, 403, 403, 403]);
    const own = await control("GET", "/clock", { headers: { origin: service.url } });
    expect(own.status).toBe(200);
  });

  it.each(CHANGES)("%s %s refuses a body that is not declared as JSON", async (method, path) => {
    const { control } = await startControlled();
    const types = [null, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"];

    for (const type of types) {
      const answer = await control(method, path, { headers: { "content-type": type } });
      expect([answer.status, answer.body.message]).toEqual([
        415,
        "content-type: must be application/json",
      ]);
    }
  });

  it("the token opens no operation of the interface", async () => {
    const { send } = await startControlled();

    const answers = [
      await send("GET", POLICY, { headers: { authorization: `Bearer ${TOKEN}` } }),
      await send("GET", POLICY, { headers: { authorization: `apikey ${TOKEN}` } }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 401]);
  });

  it("without a token, every path of the controls is unknown, as any other", async () => {
    const { send, control } = await startControlled({ controlToken: undefined });
    const unknown = await send("GET", "/cloud/v1/no-such-path");

    const answers = [];
    for (const [method, path] of ROUTES) answers.push(await send(method, `/_skyhook${path}`));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([unknown.status]));
    expect(answers[0]?.body).toEqual({ ...unknown.body, request_id: expect.any(String) });
    expect((await control("GET", "/clock")).status).toBe(401);
  });

  it("refuses a foreign Host before it looks at the token", async () => {
    const { service } = await startControlled();
    const headers = { authorization: `Bearer ${TOKEN}`, host: "evil.example" };
    const { request } = await import("node:http");

    const status = await new Promise((resolve, reject) => {
      request(`${service.url}/_skyhook/clock`, { headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end();
    });

    expect(status).toBe(403);
  });
});

test.each([
  ["GET", "/", 404, "path not found"],
  ["GET", "/nothing", 404, "path not found"],
  ["POST", "/clock", 405, "method: must be GET"],
  ["GET", "/state/reset", 405, "method: must be POST"],
  ["POST", "/snapshots/none/restore", 404, "snapshot not found"],
  ["DELETE", "/snapshots/none", 404, "snapshot not found"],
  ["DELETE", "/faults/fault-1", 404, "fault not found"],
])("%s %s is refused with %i", async (method, path, status, message) => {
  const { control } = await startControlled();

  const answer = await control(method, path);

  expect([answer.status, answer.body.message]).toEqual([status, message]);
});

test.each([
  [
    "POST",
    "/clock/advance",
    "{",
    "body: must be valid JSON in UTF-8, at most 200 levels deep: line 1, column 2",
  ],
  [
    "POST",
    "/clock/advance",
    '{\n  "by": nonsense }',
    "body: must be valid JSON in UTF-8, at most 200 levels deep: line 2, column 9",
  ],
  ["POST", "/clock/advance", '{"by":"soon"}', "by: a time span such as 90s, 30m, 2h or 7d"],
  ["POST", "/clock/advance", '{"by":3600}', "by: a time span such as 90s, 30m, 2h or 7d"],
  ["POST", "/clock/advance", '{"by":"-1s"}', "by: a time span such as 90s, 30m, 2h or 7d"],
  ["POST", "/clock/advance", "{}", "by: required"],
  ["POST", "/clock/advance", "", "body: required"],
  ["POST", "/clock/advance", "[]", "body: an object"],
  ["POST", "/clock/freeze", '{"at":"now"}', "at: unknown field"],
  ["PUT", "/state", "", "body: required"],
  ["PUT", "/state", '{\n\n "keys": [secret]}', "body: must be valid JSON: line 3, column 11"],
  ["PUT", "/state", '{"images":[]}', "keys: required; containers: required"],
  ["PUT", "/snapshots/a%20b", "", "name: 1 to 64 letters, digits, _ . or -"],
  ["POST", "/faults", '{"operation":"update-pol","kind":"reset"}', "did you mean update-pool?"],
  ["POST", "/faults", '{"operation":"*","kind":"slow"}', "delay: required: a duration such as 2s"],
  ["PATCH", "/prices", '{"region_id":"76"}', "region_id: a number"],
  ["PATCH", "/prices", '{"region_id":76,"flavors":{"x":-1}}', "flavors.x: at least 0"],
  ["PATCH", "/prices", '{"region_id":76,"price":1}', "price: unknown field"],
])("%s %s with the body %s is refused with the rule", async (method, path, text, message) => {
  const { control } = await startControlled();
  const before = (await control("GET", "/state")).body;

  const answer = await control(method, path, { text });

  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(message);
  expect(JSON.stringify(answer.body)).not.toMatch(/secret|nonsense/);
  expect((await control("GET", "/state")).body).toEqual(before);
});

describe("the clock", () => {
  it("advances: a task ends at its own time, not at the time of the next request", async () => {
    const { control, send } = await startControlled();
    const { body } = await send("PATCH", CONTAINER, { body: { timeout: 5 } });

    const answer = await control("POST", "/clock/advance", { body: { by: "1h" } });
    const task = await send("GET", `/v1/tasks/${body.tasks[0]}`);

    expect(answer.body).toEqual({
      now: "2026-01-01T01:00:00.000Z",
      frozen: false,
      aheadMs: 3_600_000,
    });
    expect(task.body).toMatchObject({
      state: "FINISHED",
      created_on: "2026-01-01T00:00:00.000Z",
      finished_on: "2026-01-01T00:00:10.000Z",
    });
  });

  it("freezes: no task ends until the time is moved", async () => {
    const { control, send, clock } = await startControlled();
    const { body } = await send("PATCH", CONTAINER, { body: { timeout: 5 } });
    const stateOf = async () => (await send("GET", `/v1/tasks/${body.tasks[0]}`)).body.state;

    const frozen = await control("POST", "/clock/freeze");
    await clock.advance(TASK_DURATION_MS * 10);
    const before = await stateOf();
    const later = await control("POST", "/clock/advance", { body: { by: "2s" } });
    const after = await stateOf();
    const resumed = await control("POST", "/clock/resume");
    await clock.advance(TASK_DURATION_MS - 2_000);

    expect(frozen.body).toEqual({ now: "2026-01-01T00:00:00.000Z", frozen: true, aheadMs: 0 });
    expect([before, after, await stateOf()]).toEqual(["NEW", "RUNNING", "FINISHED"]);
    expect(later.body).toMatchObject({ now: "2026-01-01T00:00:02.000Z", frozen: true });
    expect(resumed.body).toEqual({
      now: "2026-01-01T00:00:02.000Z",
      frozen: false,
      aheadMs: -98_000,
    });
  });

  it("refuses to go beyond the year 9999", async () => {
    const { control, faults } = await startControlled();
    const far = { body: { by: "999999d" } };
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await control("POST", "/clock/advance", far));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
    expect(answers[3]?.body.message).toBe("by: the clock ends in the year 9999");
    expect(faults).toEqual([]);
  });
});

test("a fault strikes as often as its rule says, and never the controls", async () => {
  const { control, send } = await startControlled();
  const rule = { operation: "get-policy", kind: "status", code: 503, times: 2 };

  const added = await control("POST", "/faults", { body: rule });
  const answers = [
    await send("GET", POLICY),
    await send("GET", CONTAINER),
    await send("GET", POLICY),
  ];
  const spent = await control("GET", "/faults");
  const after = await send("GET", POLICY);
  await control("POST", "/faults", { body: { ...rule, operation: "*", times: undefined } });
  await control("DELETE", "/faults/fault-1");
  const left = await control("GET", "/faults");
  const struck = await send("GET", POLICY);
  await control("DELETE", "/faults");

  expect(added.body).toMatchObject({ id: "fault-1", rule, struck: 0, left: 2 });
  expect(answers.map(({ status }) => status)).toEqual([503, 200, 503]);
  expect(spent.body).toMatchObject([{ id: "fault-1", struck: 2, left: 0 }]);
  expect(left.body).toMatchObject([{ id: "fault-2", struck: 0 }]);
  expect([after.status, struck.status, (await send("GET", POLICY)).status]).toEqual([
    200, 503, 200,
  ]);
  expect((await control("GET", "/faults")).body).toEqual([]);
});

test("a delayed request is answered as soon as the clock has moved far enough", async () => {
  const { control, send } = await startControlled();
  await control("POST", "/clock/freeze");
  await control("POST", "/faults", { body: { operation: "*", kind: "slow", delay: "30s" } });

  let isAnswered = false;
  const answered = send("GET", POLICY).then(({ status }) => {
    isAnswered = true;
    return status;
  });
  await control("POST", "/clock/advance", { body: { by: "29s" } });
  // A due request would be answered by now.
  await letOthersRun();
  const early = isAnswered;
  await control("POST", "/clock/advance", { body: { by: "1s" } });

  expect([early, await answered]).toEqual([false, 200]);
});

test("the log of requests has no request to the controls, and can be cleared", async () => {
  const { control, send } = await startControlled();
  await send("GET", POLICY);
  await send("GET", CONTAINER);
  const before = await control("GET", "/requests");

  const cleared = await control("DELETE", "/requests");
  await send("GET", POLICY);
  const after = await control("GET", "/requests");

  expect(before.body.map(({ path }: { path: string }) => path)).toEqual([CONTAINER, POLICY]);
  expect(cleared.status).toBe(204);
  expect(after.body).toMatchObject([{ number: 3, path: POLICY, status: 200 }]);
});

test("a changed price is in the next answer, and other prices stay", async () => {
  const { control, send } = await startControlled();
  const price = async () =>
    (await send("GET", "/cloud/v2/pricing/1234567/76/k8s/clusters/my-cluster")).body;
  const before = await price();
  const listsBefore = (await control("GET", "/prices")).body;

  const changed = await control("PATCH", "/prices", {
    body: { region_id: 76, flavors: { "g1-standard-2-4": 0.4 }, external_ip: 1 },
  });
  const unknown = await control("PATCH", "/prices", { body: { region_id: 7 } });
  const future = await control("PATCH", "/prices", {
    body: { region_id: 148, starts_at: "2027-01-01T00:00:00Z", floating_ip: 2 },
  });

  expect(changed.body).toEqual({
    ...listsBefore[2],
    flavors: { ...listsBefore[2].flavors, "g1-standard-2-4": 0.4 },
    external_ip: 1,
  });
  expect([before.instances[0].price_per_hour, (await price()).instances[0].price_per_hour]).toEqual(
    [0.04, 0.4],
  );
  expect([unknown.status, unknown.body.message]).toEqual([404, "price list not found"]);
  expect(future.body).toMatchObject({ starts_at: "2027-01-01T00:00:00Z", floating_ip: 2 });
});
