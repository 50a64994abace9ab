import { expect, test } from "vitest";
import { OPERATIONS } from "../../../lib/contract/operations.ts";
import { MOUNTED_ROUTES } from "../../../lib/service/routes.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import {
  ACTIVE,
  CONTAINER,
  CONTAINER_RECORD,
  EVENT,
  POOL,
  ROUTERS,
  SUSPENDED,
  startService,
} from "./harness.ts";

test("every operation of the contract is mounted at its own path", () => {
  const mounted = MOUNTED_ROUTES.map(
    ({ endpoint, route }) => `${route.id} ${endpoint.method} ${endpoint.path}`,
  );

  expect(mounted).toEqual(
    expect.arrayContaining(OPERATIONS.map(({ id, method, path }) => `${id} ${method} ${path}`)),
  );
  expect(mounted).toHaveLength(OPERATIONS.length + 2);
});

test("all problems of path, query and body are reported together", async () => {
  const { send } = await startService();

  const answer = await send("PATCH", "/cloud/v1/caas/x/76/containers/my-container?why=so", {
    body: { timeout: 181, listening_port: 0 },
  });

  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.invalid_fields).sort()).toEqual([
    "listening_port",
    "project_id",
    "timeout",
    "why",
  ]);
});

test("a body of exactly 1 MiB is accepted, one byte more is refused", async () => {
  const { send } = await startService();
  const frame = '{"commands":""}'.length;

  const atLimit = await send("PATCH", CONTAINER, {
    text: `{"commands":"${"x".repeat(1_048_576 - frame)}"}`,
  });
  const above = await send("PATCH", CONTAINER, {
    text: `{"commands":"${"x".repeat(1_048_577 - frame)}"}`,
  });

  expect(atLimit.status).toBe(200);
  expect(above.status).toBe(413);
  expect(above.body).toMatchObject({ message: "body: at most 1048576 bytes" });
});

test("reading an endless body without a length stops at the limit", async () => {
  const { service } = await startService();
  let pulled = 0;
  const endless = new ReadableStream({
    pull: (controller) => {
      pulled += 1;
      controller.enqueue(new Uint8Array(65_536));
    },
  });

  const response = await service.fetch(
    new Request(`http://service.test${CONTAINER}`, {
      method: "PATCH",
      body: endless,
      duplex: "half",
    }),
  );

  expect(response.status).toBe(413);
  expect(pulled).toBeLessThan(25);
});

test.each([
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["Application/JSON", 200],
  ["text/json", 415],
  ["application/jsonp", 415],
  [null, 415],
])("a body of content type %s gets %i", async (contentType, status) => {
  const { send } = await startService();

  const answer = await send("PATCH", CONTAINER, {
    text: "{}",
    headers: { "content-type": contentType },
  });

  // Request gives a text body without a type the type text/plain.
  expect(answer.status).toBe(status);
});

test.each([
  ["cut off", '{"envs":{"TOKEN":"hush-1"'],
  ["not JSON", "hush-1"],
  ["nested too deeply", "[".repeat(200_000)],
])("a body that is %s is refused, and the error does not quote it", async (_, text) => {
  const { send, faults } = await startService();

  const answer = await send("PATCH", CONTAINER, { text });

  expect(answer.status).toBe(400);
  expect(answer.body.invalid_fields).toEqual({
    body: ["must be valid JSON in UTF-8, at most 200 levels deep"],
  });
  expect(JSON.stringify(answer.body)).not.toContain("hush-1");
  expect(faults).toEqual([]);
});

test("an error does not contain the refused value", async () => {
  const { send } = await startService();

  const answer = await send("PATCH", CONTAINER, {
    body: { envs: { TOKEN: ["hush-1"] }, pull_secret: { name: "hush-2" } },
  });

  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).not.toMatch(/hush/);
});

test.each([
  ["DELETE", CONTAINER, "PATCH, GET"],
  ["PUT", POOL, "PATCH, GET"],
  ["GET", `${SUSPENDED}/resume`, "POST"],
  ["GET", EVENT, "PUT, POST, DELETE"],
  ["GET", ROUTERS, "POST"],
])("%s %s gets 405 with the allowed methods", async (method, path, allow) => {
  const { send } = await startService();

  const answer = await send(method, path);

  expect(answer.status).toBe(405);
  expect(answer.headers.get("Allow")).toBe(allow);
});

test.each([
  ["/nowhere", { exception_class: "NotFoundError", message: "path not found" }],
  ["/storage/nowhere", { error: "path not found" }],
  ["/streaming/nowhere", { error: "path not found" }],
  ["/v1/tasks/", { exception_class: "NotFoundError", message: "path not found" }],
])("the unknown path %s gets 404 in the format of its family", async (path, body) => {
  const { send } = await startService();

  const answer = await send("GET", path);

  expect(answer.status).toBe(404);
  expect(answer.body).toMatchObject(body);
});

test("a fault of the service is a 500 without details, which are reported with the request id", async () => {
  const memory = createMemoryStore();
  const failing = { ...memory, isBroken: false };
  failing.commit = (entries) =>
    failing.isBroken ? Promise.reject(new Error("disk on fire")) : memory.commit(entries);
  const { send, faults, stored } = await startService({ store: failing });
  failing.isBroken = true;

  const answer = await send("PATCH", CONTAINER, { body: { timeout: 5 } });
  failing.isBroken = false;
  const after = await send("PATCH", CONTAINER, { body: {} });

  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({
    exception_class: "InternalServerError",
    message: "internal error",
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(faults).toEqual([new Error("disk on fire")]);
  expect(after.status).toBe(200);
  expect((await stored())[CONTAINER_RECORD]).toMatchObject({ timeout: 120 });
});

test("concurrent requests run one by one: of two updates of one pool one gets 409", async () => {
  const { send } = await startService();

  const answers = await Promise.all([
    send("PATCH", POOL, { body: { name: "first" } }),
    send("PATCH", POOL, { body: { name: "second" } }),
    send("GET", POOL),
  ]);

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
});

test("an error lists the first 20 problems and the number of the others", async () => {
  const { send } = await startService();
  const fields = Array.from({ length: 1000 }, (_, n) => [`field${n}`, n]);

  const answer = await send("PATCH", CONTAINER, { body: Object.fromEntries(fields) });

  expect(answer.status).toBe(400);
  expect(Object.keys(answer.body.invalid_fields)).toHaveLength(20);
  expect(answer.body.message).toMatch(/; field19: unknown field; and 980 more$/);
});

test.each([
  ["9223372036854775807", 404, "project not found"],
  ["-9223372036854775808", 404, "project not found"],
  ["9223372036854775808", 400, "project_id: at most 9223372036854775807"],
  ["1.5", 400, /^project_id: a whole number from -9223372036854775808 to 9223372036854775807$/],
])("the 64-bit id %s gets %i", async (id, status, message) => {
  const { send } = await startService();
  const body = { flavor: "g1-standard-1-2", interfaces: [], names: ["vm"] };

  const answer = await send("POST", `/cloud/v2/pricing/${id}/76/instances`, { body });

  expect(answer.status).toBe(status);
  expect(answer.body.message).toMatch(message);
});

test.each([
  ["1.5", "page: a whole number"],
  ["0", "page: at least 1"],
  ["01", "page: a number"],
  ["1.0", "page: a number"],
])("the error of the number %s in the query states the broken rule", async (page, error) => {
  const { send } = await startService();

  const answer = await send("GET", `/streaming/ai/tasks?page=${page}`);

  expect([answer.status, answer.body]).toEqual([400, { error }]);
});

const NO_KEY = { authorization: null };
const TOO_LARGE = `{"commands":"${"x".repeat(1_048_576)}"}`;

test.each([
  ["size before media type", 413, { text: TOO_LARGE, headers: { "content-type": "text/plain" } }],
  ["media type before JSON", 415, { text: "{", headers: { "content-type": "text/plain" } }],
  ["JSON before the key", 400, { text: "{", headers: NO_KEY }],
  ["the key before the values", 401, { body: { timeout: 999 }, headers: NO_KEY }],
])("the order of checks: %s", async (_, status, sent) => {
  const { send } = await startService();

  const answer = await send("PATCH", CONTAINER, sent);

  expect(answer.status).toBe(status);
});

test.each([
  ["the key before the path", 401, "GET", "/nowhere", { headers: NO_KEY }],
  ["the key before the method", 401, "DELETE", CONTAINER, { headers: NO_KEY }],
  ["JSON before the path", 400, "POST", "/nowhere", { text: "{" }],
  ["the method before the values", 405, "PUT", CONTAINER, { body: { timeout: 999 } }],
  ["values before existence", 400, "PATCH", `${CONTAINER}-unknown`, { body: { timeout: 999 } }],
  [
    "a rule across fields before existence",
    400,
    "PATCH",
    `${CONTAINER}-unknown`,
    { body: { scale: { min: 2, max: 1 } } },
  ],
  [
    "a rule across members before existence",
    400,
    "PATCH",
    POOL.replace("9fccf0a3", "00000000"),
    {
      body: {
        members: [
          { address: "10.0.0.1", protocol_port: 1 },
          { address: "10.0.0.1", protocol_port: 1 },
        ],
      },
    },
  ],
  [
    "values before the client",
    400,
    "POST",
    `${EVENT}?client_id=2`,
    { body: { name: "reaching_the_moon" } },
  ],
  ["existence before state", 404, "POST", `${ACTIVE.replace("/76/", "/148/")}/resume`, {}],
])("the order of checks: %s", async (_, status, method, path, sent) => {
  const { send, stored } = await startService();
  const before = await stored();

  const answer = await send(method, path, sent);

  expect(answer.status).toBe(status);
  expect(await stored()).toEqual(before);
});

test("the order of checks: values before a lock", async () => {
  const { send } = await startService();
  await send("PATCH", CONTAINER, { body: { timeout: 1 } });

  const answer = await send("PATCH", CONTAINER, { body: { timeout: 999 } });

  expect(answer.status).toBe(400);
});
