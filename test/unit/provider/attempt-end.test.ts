import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { ATTEMPT_TIMEOUT_MS, errorOf, openClient } from "./open-client.ts";

const never = () => new Promise<never>(() => undefined);

/** Answers at once with headers, then with a body that never ends. */
const endlessBody = (status: number) => async () =>
  new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }), {
    status,
  });

/** A promise, and whether it has settled. */
const watch = (call: Promise<unknown>) => {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  call.then(settle, settle);
  return { call, isSettled: () => isSettled };
};

describe("an attempt without a reply ends at its own deadline:", () => {
  test.each([
    ["no reply", "update-container", never, "ambiguous"],
    ["no reply", "get-task", never, "transient"],
    ["an endless body", "update-container", endlessBody(200), "ambiguous"],
    ["an endless body", "get-task", endlessBody(200), "transient"],
  ] as const)("%s for %s", async (_, id, fetch, disposition) => {
    const { calls, clock, asleep } = openClient({ fetch });
    const { call, isSettled } = watch(calls[id]());

    await clock.advance(ATTEMPT_TIMEOUT_MS - 1);
    expect(isSettled()).toBe(false);
    await clock.advance(1);

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition, code: "timed-out", status: undefined });
    expect(error.message).toBe(`${id}: no reply in time`);
    expect(asleep()).toBe(0);
  });

  test("an error status with an endless body keeps its meaning", async () => {
    const { calls, clock } = openClient({ fetch: endlessBody(409) });
    const { call } = watch(calls["update-container"]());

    await clock.advance(ATTEMPT_TIMEOUT_MS);

    expect(await errorOf(call)).toMatchObject({ disposition: "transient", code: "locked" });
  });

  test("a read of the API key that never ends sends nothing", async () => {
    const { calls, clock, asleep } = openClient({ apiKey: never });
    const { call } = watch(calls["update-container"]());

    await clock.advance(ATTEMPT_TIMEOUT_MS);

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(error.message).toBe("update-container: not sent: reading the API key took too long");
    expect(asleep()).toBe(0);
  });

  test("the request itself is aborted", async () => {
    let stopped: AbortSignal | undefined;
    const { calls, clock } = openClient({
      fetch: (request) => {
        stopped = request.signal;
        return never();
      },
    });
    const { call } = watch(calls["update-container"]());
    await clock.advance(ATTEMPT_TIMEOUT_MS - 1);
    expect(stopped?.aborted).toBe(false);

    await clock.advance(1);

    await errorOf(call);
    expect(stopped?.aborted).toBe(true);
  });
});

describe("an aborted call", () => {
  test("sends nothing and reads no key if it is aborted before it begins", async () => {
    const asked: string[] = [];
    const { calls, asleep } = openClient({
      apiKey: async () => {
        asked.push("key");
        return "k";
      },
      fetch: async () => {
        asked.push("fetch");
        return new Response();
      },
    });

    const error = await errorOf(calls["update-container"](AbortSignal.abort()));

    expect({ ...error }).toMatchObject({ disposition: "transient", code: "aborted" });
    expect(error.message).toBe("update-container: not sent: no time left");
    expect(asked).toEqual([]);
    expect(asleep()).toBe(0);
  });

  test("sends nothing if it is aborted while the key is read", async () => {
    const caller = new AbortController();
    const { calls, asleep } = openClient({ apiKey: never });
    const { call } = watch(calls["update-container"](caller.signal));

    caller.abort();

    expect(await errorOf(call)).toMatchObject({
      disposition: "transient",
      code: "key-unavailable",
    });
    expect(asleep()).toBe(0);
  });

  test.each([
    ["before the reply", "update-container", never, "ambiguous"],
    ["before the reply", "get-instance", never, "transient"],
    ["inside the reply", "update-container", endlessBody(200), "ambiguous"],
    ["inside the reply", "get-instance", endlessBody(200), "transient"],
  ] as const)("ends %s of %s", async (_, id, fetch, disposition) => {
    const caller = new AbortController();
    const { calls, clock, asleep } = openClient({ fetch });
    const { call, isSettled } = watch(calls[id](caller.signal));
    await clock.advance(1);
    expect(isSettled()).toBe(false);

    caller.abort();

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition, code: "aborted" });
    expect(error.message).toBe(`${id}: aborted before the reply`);
    expect(asleep()).toBe(0);
  });

  test("is ambiguous whatever the reason of the abort", async () => {
    const caller = new AbortController();
    const { calls, clock } = openClient({ fetch: never });
    const { call } = watch(calls["update-container"](caller.signal));
    await clock.advance(1);

    caller.abort(Object.assign(new Error("upstream"), { code: "ECONNREFUSED" }));

    expect(await errorOf(call)).toMatchObject({ disposition: "ambiguous", code: "aborted" });
  });
});

test.each([
  ["the deadline", "timed-out"],
  ["the caller", "aborted"],
] as const)("a real connection is closed when %s ends the attempt", async (who, code) => {
  const server = createServer();
  const closed = new Promise((resolve) => {
    server.on("request", (request) => request.socket.once("close", resolve));
  });
  const reached = new Promise((resolve) => server.once("request", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const caller = new AbortController();
  const { calls, clock } = openClient({ baseUrl, fetch });
  const { call } = watch(calls["update-container"](caller.signal));
  await reached;

  await (who === "the caller" ? caller.abort() : clock.advance(ATTEMPT_TIMEOUT_MS));

  expect(await errorOf(call)).toMatchObject({ disposition: "ambiguous", code });
  await closed;
  server.close();
});

test("no timer remains after a call, however it ended", async () => {
  const { calls, asleep } = openClient({ fetch: async () => new Response('{"tasks":[]}') });
  const refused = openClient({ fetch: async () => new Response("", { status: 403 }) });
  const lost = openClient();

  await calls["update-container"]();
  await errorOf(refused.calls["update-container"]());
  await errorOf(lost.calls["update-container"]());

  expect([asleep(), refused.asleep(), lost.asleep()]).toEqual([0, 0, 0]);
});

test("no listener remains on the caller's signal after a call", async () => {
  const caller = new AbortController();
  const { calls } = openClient({ fetch: async () => new Response('{"tasks":[]}') });

  await calls["update-container"](caller.signal);

  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
});
