import { afterAll, expect, test } from "vitest";
import { parseFault } from "../../../lib/service/fault-text.ts";
import { openService } from "../../../lib/service/open-service.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { createMemoryStore } from "../../../lib/service/store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { CONTAINER, EVENT, POLICY, POOL, SUSPENDED } from "./harness.ts";

const NATIVE = { Request: globalThis.Request, Response: globalThis.Response };
afterAll(() => {
  for (const [name, value] of Object.entries(NATIVE)) {
    Object.defineProperty(globalThis, name, { value });
  }
});

const FAULTS = [
  "get-instance=truncated:1x",
  "get-policy=lost-reply-after:1x",
  "update-policy=unexpected-body:1x",
  "get-pool=status:1x,code=503",
];

/** One request after the other, with every kind of reply. */
const REQUESTS = [
  ["GET", SUSPENDED],
  ["GET", SUSPENDED],
  ["GET", POLICY],
  ["PATCH", POLICY, '{"status":"paused"}'],
  ["PATCH", POLICY, '{"status":"paused"}'],
  ["PATCH", CONTAINER, '{"timeout":5}'],
  ["PATCH", CONTAINER, '{"timeout":5}'],
  ["PATCH", CONTAINER, '{"timeout":'],
  ["PATCH", CONTAINER, `{"image":"${"x".repeat(2_000_000)}"}`],
  ["POST", EVENT, '{"name":"reaching_used_requests","count":18446744073709551615}'],
  ["PUT", EVENT, '{"name":"reaching_used_requests","count":7}'],
  ["GET", "/storage/notifications/v1/events"],
  ["GET", POOL],
  ["HEAD", POOL],
  ["DELETE", POOL],
  ["GET", "/cloud/v1/unknown"],
  ["GET", "/openapi.json"],
  ["GET", "/_skyhook/clock"],
] as const;

const repliesOf = async (ownProcess: boolean) => {
  const service = await openService({
    clock: createVirtualClock(),
    random: createSeededRandom(1),
    store: createMemoryStore(),
    initialState: builtInState(),
    taskDurationMs: 1_000,
    port: 0,
    ownProcess,
    controlToken: "a token for the controls",
    faults: { rules: FAULTS.map(parseFault) },
    onFault: (error) => {
      throw error;
    },
  });
  const replies: unknown[] = [];
  for (const [method, path, body] of REQUESTS) {
    const { first } = BUILT_IN_API_KEYS;
    const headers = { authorization: `apikey ${first}`, "content-type": "application/json" };
    try {
      const reply = await fetch(`${service.url}${path}`, { method, headers, body: body ?? null });
      const { date: _, ...shown } = Object.fromEntries(reply.headers);
      replies.push({ status: reply.status, headers: shown, text: await reply.text() });
    } catch (error) {
      replies.push(String(error));
    }
  }
  await service.close();
  return replies;
};

test("replies are the same with the faster classes of the HTTP adapter", async () => {
  const native = await repliesOf(false);
  expect(globalThis.Response).toBe(NATIVE.Response);

  const fast = await repliesOf(true);

  expect(globalThis.Response).not.toBe(NATIVE.Response);
  expect(fast).toEqual(native);
  expect(native.map((reply) => Object(reply).status ?? reply)).toEqual([
    ...["TypeError: terminated", 200, "TypeError: fetch failed", 200, 200],
    ...[200, 409, 400, 413, 200, 204, 200, 503, 200, 405, 404, 200, 401],
  ]);
});
