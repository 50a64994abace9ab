import { expect, test } from "vitest";
import { ACTIVE, CONTAINER, EVENT, POOL, startService } from "./harness.ts";

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
