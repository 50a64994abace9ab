import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { ATTEMPT_TIMEOUT_MS, errorOf, openClient } from "./open-client.ts";

const never = () => new Promise<never>(() => undefined);

/** Answers with a head at once, and with a body that never ends. */
const endlessBody = (status: number) => async () =>
  new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(1)) }), {
    status,
  });

/** A promise and what became of it so far. */
const watch = (call: Promise<unknown>) => {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  call.then(settle, settle);
  return { call, isSettled: () => isSettled };
};

describe("an attempt without an answer ends at its own deadline:", () => {
  test.each([
    ["nothing comes", "update-container", never, "ambiguous"],
    ["nothing comes", "get-task", never, "transient"],
    ["the body never ends", "update-container", endlessBody(200), "ambiguous"],
    ["the body never ends", "get-task", endlessBody(200), "transient"],
  ] as const)("%s for %s", async (_, id, fetch, disposition) => {
    const { calls, clock, asleep } = openClient({ fetch });
    const { call, isSettled } = watch(calls[id]());

    await clock.advance(ATTEMPT_TIMEOUT_MS - 1);
    expect(isSettled()).toBe(false);
    await clock.advance(1);

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition, code: "timed-out", status: undefined });
    expect(error.message).toBe(`${id}: no answer in time`);
    expect(asleep()).toBe(0);
  });

  test("a refusal whose text never ends is the refusal", async () => {
    const { calls, clock } = openClient({ fetch: endlessBody(409) });
    const { call } = watch(calls["update-container"]());

    await clock.advance(ATTEMPT_TIMEOUT_MS);

    expect(await errorOf(call)).toMatchObject({ disposition: "transient", code: "locked" });
  });

  test("an API key that never comes is no sent request", async () => {
    const { calls, clock, asleep } = openClient({ apiKey: never });
    const { call } = watch(calls["update-container"]());

    await clock.advance(ATTEMPT_TIMEOUT_MS);

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(error.message).toBe("update-container: not sent, the API key was not there in time");
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

describe("a caller who has no time left", () => {
  test("before the call sends nothing and does not ask for the key", async () => {
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
    expect(error.message).toBe("update-container: not sent, no time left");
    expect(asked).toEqual([]);
    expect(asleep()).toBe(0);
  });

  test("while the key is read sends nothing", async () => {
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
    ["before the answer", "update-container", never, "ambiguous"],
    ["before the answer", "get-instance", never, "transient"],
    ["inside the answer", "update-container", endlessBody(200), "ambiguous"],
    ["inside the answer", "get-instance", endlessBody(200), "transient"],
  ] as const)("%s of %s ends the call", async (_, id, fetch, disposition) => {
    const caller = new AbortController();
    const { calls, clock, asleep } = openClient({ fetch });
    const { call, isSettled } = watch(calls[id](caller.signal));
    await clock.advance(1);
    expect(isSettled()).toBe(false);

    caller.abort();

    const error = await errorOf(call);
    expect({ ...error }).toMatchObject({ disposition, code: "aborted" });
    expect(error.message).toBe(`${id}: stopped before the answer`);
    expect(asleep()).toBe(0);
  });

  test("and a reason of any kind cannot pass for a request that never left", async () => {
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

test("nothing sleeps on after a call, however it ended", async () => {
  const { calls, asleep } = openClient({ fetch: async () => new Response('{"tasks":[]}') });
  const refused = openClient({ fetch: async () => new Response("", { status: 403 }) });
  const lost = openClient();

  await calls["update-container"]();
  await errorOf(refused.calls["update-container"]());
  await errorOf(lost.calls["update-container"]());

  expect([asleep(), refused.asleep(), lost.asleep()]).toEqual([0, 0, 0]);
});

test("a caller's signal keeps no listener of a call that is over", async () => {
  const caller = new AbortController();
  const { calls } = openClient({ fetch: async () => new Response('{"tasks":[]}') });

  await calls["update-container"](caller.signal);

  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
});
