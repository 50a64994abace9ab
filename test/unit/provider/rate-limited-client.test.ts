import { expect, test } from "vitest";
import { listStorageEvents } from "../../../lib/contract/storage-events.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { createClient } from "../../../lib/provider/client.ts";
import { createRateLimitedClient } from "../../../lib/provider/retrying-client.ts";
import { json, scriptProvider } from "../../support/provider.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const LIST = { params: {}, query: {}, body: undefined };

const open = () => {
  const clock = createVirtualClock();
  const startedAt = clock.now();
  const sentAt: number[] = [];
  const provider = scriptProvider({
    "GET ": () => {
      sentAt.push(clock.now() - startedAt);
      return json(200, {});
    },
  });
  const client = createClient({
    ...provider,
    baseUrl: "http://provider.test",
    apiKey: async () => "key",
    clock,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
  return {
    clock,
    sentAt,
    client: createRateLimitedClient(client, { clock, requestsPerSecond: 10 }),
  };
};

test("concurrent calls leave one by one at even intervals", async () => {
  const { client, clock, sentAt } = open();
  const calls = Promise.all(Array.from({ length: 5 }, () => client.call(listStorageEvents, LIST)));

  await clock.advance(1_000);

  await calls;
  expect(sentAt).toEqual([0, 100, 200, 300, 400]);
});

test("an abort ends waiting calls without sending them", async () => {
  const { client, clock, sentAt } = open();
  const stopped = new AbortController();
  const calls = Promise.allSettled(
    Array.from({ length: 3 }, () => client.call(listStorageEvents, LIST, stopped.signal)),
  );
  await clock.advance(50);
  stopped.abort();

  await clock.advance(1_000);

  expect((await calls).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(sentAt).toEqual([0]);
});
