import { expect, test } from "vitest";
import { createClient } from "../../lib/client/client.ts";
import { createPacedClient } from "../../lib/client/paced-client.ts";
import { createStorageEvent, listStorageEvents } from "../../lib/contract/storage-events.ts";
import { json, scriptProvider } from "../support/provider.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

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
  const client = createPacedClient(
    {
      requestsPerSecond: 10,
      client: createClient({
        ...provider,
        baseUrl: "http://provider.test",
        apiKey: async () => "key",
        clock,
        attemptTimeoutMs: 10_000,
        paths: {},
      }),
    },
    {
      clock,
      random: createSeededRandom(),
      endsAt: startedAt + durationMs,
      signal: stopped.signal,
    },
  );
  return { client, clock, sentAt, stopped };
};

test("however many calls are asked for at once, they leave at the account's pace", async () => {
  const { client, clock, sentAt } = open(() => json(200, {}));
  const calls = Promise.all(Array.from({ length: 5 }, () => client.call(listStorageEvents, LIST)));

  await clock.advance(1_000);

  await calls;
  expect(sentAt).toEqual([0, 100, 200, 300, 400]);
});

test("a pause that the provider asks for holds every call back", async () => {
  const { client, clock, sentAt } = open((nth) =>
    nth === 1 ? json(429, {}, { "retry-after": "7" }) : json(200, {}),
  );
  const calls = Promise.all(Array.from({ length: 3 }, () => client.call(listStorageEvents, LIST)));

  await clock.advance(20_000);

  await calls;
  // The second and third had left when the first was answered, or waited for their turn.
  expect(sentAt[0]).toBe(0);
  expect(sentAt.slice(1).every((at) => at >= 7_000)).toBe(true);
  expect(sentAt).toHaveLength(4);
});

test("what may pass later is tried five times with growing pauses, and then is an error", async () => {
  const { client, clock, sentAt } = open(() => json(503, {}));
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "transient", code: "server-error" });
  expect(sentAt).toHaveLength(5);
  const pauses = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  expect(pauses.every((pause, n) => pause >= 500 * 2 ** n && pause <= 1000 * 2 ** n)).toBe(true);
});

test("a mutation whose outcome is unknown is not sent again", async () => {
  const { client, clock, sentAt } = open(() => json(503, {}));
  const call = client.call(createStorageEvent, CREATE).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "ambiguous" });
  expect(sentAt).toEqual([0]);
});

test("a refusal is not tried again", async () => {
  const { client, clock, sentAt } = open(() => json(400, { error: "no" }));
  const call = client.call(listStorageEvents, LIST).catch((error: unknown) => error);

  await clock.advance(60_000);

  expect(await call).toMatchObject({ disposition: "permanent" });
  expect(sentAt).toEqual([0]);
});

test("nothing leaves after the end of the time, and no pause lasts beyond it", async () => {
  const { client, clock, sentAt } = open((nth) => (nth < 3 ? json(200, {}) : json(503, {})), 250);
  const calls = Promise.allSettled(
    Array.from({ length: 5 }, () => client.call(listStorageEvents, LIST)),
  );

  await clock.advance(60_000);

  const ends = (await calls).map((end) =>
    end.status === "fulfilled" ? "answered" : end.reason.code,
  );
  expect(sentAt).toEqual([0, 100, 200]);
  expect(ends).toEqual(["answered", "answered", "server-error", "aborted", "aborted"]);
});

test("when it is stopped, what waits for its turn is not sent", async () => {
  const { client, clock, sentAt, stopped } = open(() => json(200, {}));
  const calls = Promise.allSettled(
    Array.from({ length: 3 }, () => client.call(listStorageEvents, LIST)),
  );
  await clock.advance(50);
  stopped.abort();

  await clock.advance(1_000);

  expect((await calls).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(sentAt).toEqual([0]);
});
