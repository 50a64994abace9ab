import { expect, test } from "vitest";
import { createStorageEvent, listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { createClient, notSent } from "../../../lib/provider/client.ts";
import { ProviderError } from "../../../lib/provider/provider-error.ts";
import { createRetryingClient } from "../../../lib/provider/retrying-client.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const EVENTS = "GET /storage/notifications/v1/events";
const LIST = { params: {}, query: {}, body: undefined };
const CREATE = {
  params: {},
  query: {},
  body: { name: "reaching_used_space", bytes: "1" },
} as const;

const open = (answer: (nth: number) => Response | Error, durationMs = 60_000) => {
  const clock = createVirtualClock();
  const startedAt = clock.now();
  const sentAt: number[] = [];
  const respond = () => {
    sentAt.push(clock.now() - startedAt);
    return answer(sentAt.length);
  };
  const provider = scriptProvider({ [EVENTS]: respond, "POST ": respond });
  const stopped = new AbortController();
  void clock.sleep(durationMs).then(() => stopped.abort());
  const client = createRetryingClient(
    createClient({
      ...provider,
      baseUrl: "http://provider.test",
      apiKey: async () => "key",
      clock,
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      paths: {},
    }),
    { clock, random: createSeededRandom(), endsAt: startedAt + durationMs, signal: stopped.signal },
  );
  return { client, clock, sentAt, stopped };
};

test("a pause that the provider asks for delays every call", async () => {
  const { client, clock, sentAt } = open((nth) =>
    nth === 1 ? json(429, {}, { "retry-after": "7" }) : json(200, {}),
  );
  const first = client.call(listStorageEvents, LIST);
  await clock.advance(100);
  const others = [client.call(listStorageEvents, LIST), client.call(listStorageEvents, LIST)];

  await clock.advance(20_000);

  await Promise.all([first, ...others]);
  expect(sentAt).toEqual([0, 7_000, 7_000, 7_000]);
});

test("a call without a permit is retried until the time is over", async () => {
  const codes = ["budget-spent", "paused"] as const;
  let attempts = 0;
  const clock = createVirtualClock();
  const client = createRetryingClient(
    {
      call: async (operation) => {
        attempts += 1;
        const code = codes[attempts % 2] ?? "paused";
        const message = `${operation.id}: not sent`;
        throw new ProviderError({ disposition: "throttled", code, message, retryAfterMs: 1_000 });
      },
    },
    {
      clock,
      random: createSeededRandom(),
      endsAt: clock.now() + 10_500,
      signal: new AbortController().signal,
    },
  );
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "throttled" });
  // At 0 s, 1 s, and so on to 10 s.
  expect(attempts).toBe(11);
});

test("a transient failure is retried up to five attempts with growing pauses", async () => {
  const { client, clock, sentAt } = open(() => json(503, {}));
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "transient", code: "server-error" });
  expect(sentAt).toHaveLength(5);
  const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  expect(pauses.every((pause, n) => pause >= 500 * 2 ** n && pause <= 1000 * 2 ** n)).toBe(true);
});

test("a mutation with an unknown outcome is not sent again", async () => {
  const { client, clock, sentAt } = open(() => json(503, {}));
  const call = client.call(createStorageEvent, CREATE).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "ambiguous" });
  expect(sentAt).toEqual([0]);
});

test("a refusal is not retried", async () => {
  const { client, clock, sentAt } = open(() => json(400, { error: "no" }));
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "permanent" });
  expect(sentAt).toEqual([0]);
});

test("no request leaves after the end, and no pause lasts beyond it", async () => {
  const { client, clock, sentAt } = open(() => json(503, {}), 250);
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);
  await clock.advance(60_000);

  const late = await client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  expect(await call).toMatchObject({ code: "server-error" });
  expect(late).toMatchObject({ code: "aborted" });
  expect(sentAt).toEqual([0]);
});

test("an abort ends calls that wait for the end of a pause", async () => {
  const { client, clock, sentAt, stopped } = open(() => json(429, {}, { "retry-after": "7" }));
  const first = client.call(listStorageEvents, LIST).catch((error: unknown) => error);
  await clock.advance(100);
  const second = client.call(listStorageEvents, LIST).catch((error: unknown) => error);
  await clock.advance(100);
  stopped.abort();

  await clock.advance(10_000);

  expect(await first).toMatchObject({ code: "aborted" });
  expect(await second).toMatchObject({ code: "aborted" });
  expect(sentAt).toEqual([0]);
});

test("an aborted call is not retried", async () => {
  let attempts = 0;
  const clock = createVirtualClock();
  const client = createRetryingClient(
    {
      call: async (operation) => {
        attempts += 1;
        throw notSent(operation);
      },
    },
    {
      clock,
      random: createSeededRandom(),
      endsAt: clock.now() + 60_000,
      signal: new AbortController().signal,
    },
  );
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ code: "aborted" });
  expect(attempts).toBe(1);
});
