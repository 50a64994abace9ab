import { expect, test } from "vitest";
import { createRateLimit } from "../../../lib/service/admission.ts";
import { BUILT_IN_API_KEYS, hashApiKey } from "../../../lib/service/state/keys.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { CONTAINER, EVENT, POLICY, SUSPENDED, startService } from "./harness.ts";

const KEY = BUILT_IN_API_KEYS.first;

test.each([
  ["lower case", `apikey ${KEY}`],
  ["mixed case", `APIKey ${KEY}`],
  ["upper case", `APIKEY ${KEY}`],
])("the scheme is accepted in %s", async (_, authorization) => {
  const { send } = await startService();

  const answer = await send("GET", SUSPENDED, { headers: { authorization } });

  expect(answer.status).toBe(200);
});

test.each([
  ["no header", null],
  ["an empty header", ""],
  ["the scheme alone", "apikey"],
  ["the key alone", KEY],
  ["another scheme", `Bearer ${KEY}`],
  ["two spaces", `apikey  ${KEY}`],
  ["something after the key", `apikey ${KEY} more`],
])("a request with %s is not authenticated", async (_, authorization) => {
  const { send } = await startService();

  const answer = await send("GET", SUSPENDED, { headers: { authorization } });

  expect(answer.status).toBe(401);
  expect(answer.headers.get("WWW-Authenticate")).toBe("apikey");
  expect(answer.body).toEqual({
    exception_class: "not_authenticated",
    message: "authorization: must be 'apikey <API_KEY>'",
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test.each([
  ["an unknown key", "apikey 2001_0000"],
  ["a truncated key", `apikey ${KEY.slice(0, -1)}`],
  ["a key in upper case", `apikey ${KEY.toUpperCase()}`],
  ["the stored hash of a key", `apikey ${hashApiKey(KEY)}`],
])("a request with %s has no valid token", async (_, authorization) => {
  const { send } = await startService();

  const answer = await send("GET", SUSPENDED, { headers: { authorization } });

  expect(answer.status).toBe(401);
  expect(answer.body).toMatchObject({
    exception_class: "token_not_valid",
    message: "authorization: the key is unknown or revoked",
  });
});

test("a revoked key has no valid token", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      keys: builtIn.keys.map((key) => ({ ...key, revoked: true })),
    }),
  });

  const answer = await send("GET", SUSPENDED);

  expect(answer.status).toBe(401);
  expect(answer.body.exception_class).toBe("token_not_valid");
});

test("a storage request without a valid key gets an error body of the storage family", async () => {
  const { send } = await startService();

  const answer = await send("POST", EVENT, { headers: { authorization: null }, body: {} });

  expect(answer.status).toBe(401);
  expect(answer.body).toEqual({ error: "authorization: must be 'apikey <API_KEY>'" });
});

test("a resource of another client gets the same 404 as a missing one and stays unchanged", async () => {
  const { send, stored } = await startService();
  const before = await stored();
  const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.second}` };

  const answers = [
    await send("GET", SUSPENDED, { headers }),
    await send("POST", `${SUSPENDED}/resume`, { headers }),
    await send("PATCH", CONTAINER, { headers, body: { timeout: 5 } }),
    await send("POST", "/cloud/v1/routers/1234567/76", { headers, body: { name: "edge" } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(await stored()).toEqual(before);
});

test("a key for one project of its client has no access to the other one", async () => {
  const { send } = await startService({
    state: (builtIn) => ({
      ...builtIn,
      keys: builtIn.keys.map((key) => ({ ...key, project_ids: [1186668] })),
    }),
  });

  const bound = await send("PATCH", "/cloud/v1/caas/1186668/148/containers/my-nginx", { body: {} });
  const other = await send("PATCH", CONTAINER, { body: {} });
  const task = await send("GET", "/v1/tasks/d478ae29-dedc-4869-82f0-96104425f565");

  expect([bound.status, other.status, task.status]).toEqual([200, 404, 404]);
});

test("no key is stored, only its hash", async () => {
  const { stored } = await startService();

  const everything = JSON.stringify(await stored());

  expect(everything).not.toContain(KEY);
  expect(everything).toContain(hashApiKey(KEY));
});

test("a key from the options belongs to client 1, opens every project, and is not stored", async () => {
  const store = createMemoryStore();
  const { send, stored } = await startService({ store, apiKey: "own-key" });
  const headers = { authorization: "apikey own-key" };

  const first = await send("GET", SUSPENDED, { headers });
  const second = await send("PATCH", "/cloud/v1/caas/1186668/148/containers/my-nginx", {
    headers,
    body: {},
  });
  const events = await send("GET", `${EVENT}s`, { headers });
  const restarted = await startService({ store });
  const later = await restarted.send("GET", SUSPENDED, { headers });

  expect([first.status, second.status, later.status]).toEqual([200, 200, 401]);
  expect(events.body.reaching_used_space).toHaveLength(1);
  expect(JSON.stringify(await stored())).not.toContain(hashApiKey("own-key"));
});

test("a key from the options opens every project, even if the state has it as a key of another client", async () => {
  const { send } = await startService({ apiKey: BUILT_IN_API_KEYS.second });
  const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.second}` };

  expect((await send("GET", CONTAINER, { headers })).status).toBe(200);
});

const limited = () => startService({ requestsPerSecond: 2 });

test("a request over the limit gets 429 with Retry-After, and passes after that time", async () => {
  const { send, clock } = await limited();
  const statuses = async (count: number) => {
    const answers = [];
    for (let n = 0; n < count; n += 1) answers.push((await send("GET", POLICY)).status);
    return answers;
  };

  const first = await statuses(3);
  const refused = await send("GET", POLICY);
  await clock.advance(999);
  const justBefore = await statuses(1);
  await clock.advance(1);
  const after = await statuses(3);

  expect(first).toEqual([200, 200, 429]);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.body).toMatchObject({
    exception_class: "HTTPError",
    message: "rate limit: 2 requests per second",
  });
  expect(justBefore).toEqual([429]);
  expect(after).toEqual([200, 200, 429]);
});

test("a window begins with its first request, not with a second of the clock", async () => {
  const { send, clock } = await limited();
  await clock.advance(900);
  await send("GET", POLICY);
  await clock.advance(200);

  const answers = [await send("GET", POLICY), await send("GET", POLICY)];

  expect(answers.map(({ status }) => status)).toEqual([200, 429]);
});

test("each key has its own limit", async () => {
  const { send } = await limited();
  const other = { headers: { authorization: `apikey ${BUILT_IN_API_KEYS.second}` } };
  for (let n = 0; n < 3; n += 1) await send("GET", POLICY);

  const answer = await send("GET", `${EVENT}s`, other);

  expect(answer.status).toBe(200);
});

test("a refused request changes nothing, and its error has the form of its family", async () => {
  const { send, stored } = await limited();
  for (let n = 0; n < 2; n += 1) await send("GET", POLICY);
  const before = await stored();

  const update = await send("PATCH", POLICY, { body: { status: "paused" } });
  const storage = await send("GET", `${EVENT}s`);
  const streaming = await send("GET", "/streaming/ai/tasks");

  expect([update.status, storage.status, streaming.status]).toEqual([429, 429, 429]);
  expect(storage.body).toEqual({ error: "rate limit: 2 requests per second" });
  expect(streaming.body).toEqual({ error: "rate limit: 2 requests per second" });
  expect(await stored()).toEqual(before);
});

test("the key is checked before the rate, and the rate before the path", async () => {
  const { send } = await limited();
  for (let n = 0; n < 2; n += 1) await send("GET", POLICY);

  const noKey = await send("GET", POLICY, { headers: { authorization: null } });
  const nowhere = await send("GET", "/nowhere");

  expect([noKey.status, nowhere.status]).toEqual([401, 429]);
});

test("without a limit every request passes", async () => {
  const { send } = await startService();

  const answers = await Promise.all(Array.from({ length: 200 }, () => send("GET", POLICY)));

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test("a clock that is set back does not keep a window closed", async () => {
  const limit = createRateLimit(1);
  const HOUR_MS = 3_600_000;
  limit("key", HOUR_MS);

  expect(() => limit("key", 0)).not.toThrow();
  expect(() => limit("key", 999)).toThrow("rate limit: 1 requests per second");
  expect(() => limit("key", 1000)).not.toThrow();
});
