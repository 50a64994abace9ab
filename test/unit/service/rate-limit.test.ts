import { expect, test } from "vitest";
import { createRateLimit } from "../../../lib/service/admission.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { EVENT, POLICY, startService } from "./harness.ts";

const limited = () => startService({ requestsPerSecond: 2 });

test("the request over the limit is refused with the seconds to wait, and passes after them", async () => {
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
    message: "rate limit: 2 a second",
  });
  expect(justBefore).toEqual([429]);
  expect(after).toEqual([200, 200, 429]);
});

test("a window begins with the first request in it, not with the clock's second", async () => {
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
  expect(storage.body).toEqual({ error: "rate limit: 2 a second" });
  expect(streaming.body).toEqual({ error: "rate limit: 2 a second" });
  expect(await stored()).toEqual(before);
});

test("the key is looked at before the rate, and the rate before the path", async () => {
  const { send } = await limited();
  for (let n = 0; n < 2; n += 1) await send("GET", POLICY);

  const noKey = await send("GET", POLICY, { headers: { authorization: null } });
  const nowhere = await send("GET", "/nowhere");

  expect([noKey.status, nowhere.status]).toEqual([401, 429]);
});

test("without a limit any number of requests passes", async () => {
  const { send } = await startService();

  const answers = await Promise.all(Array.from({ length: 200 }, () => send("GET", POLICY)));

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test("a clock that is set back does not keep anyone waiting", async () => {
  const limit = createRateLimit(1);
  const HOUR_MS = 3_600_000;
  limit("key", HOUR_MS);

  expect(() => limit("key", 0)).not.toThrow();
  expect(() => limit("key", 999)).toThrow("rate limit: 1 a second");
  expect(() => limit("key", 1000)).not.toThrow();
});
