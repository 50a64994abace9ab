import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MAX_REFUSAL_BYTES, MAX_REPLY_BYTES } from "../../../lib/provider/client.ts";
import { ATTEMPT_TIMEOUT_MS, errorOf, openClient } from "../../unit/provider/open-client.ts";
import { serveHttp } from "./served.ts";

const HUNDRED_MB = 100_000_000;
const CHUNK = Buffer.alloc(100_000, "[");
/** Bytes that the two ends of a connection buffer beyond those that the client read. */
const ON_THE_WAY_BYTES = 20_000_000;

/**
 * Writes as fast as the client reads, until everything is written or the client is gone. @returns
 * bytes written
 */
const pour = async (response: ServerResponse, gone: Promise<unknown>): Promise<number> => {
  let bytes = 0;
  while (bytes < HUNDRED_MB && !response.destroyed) {
    if (!response.write(CHUNK)) await Promise.race([once(response, "drain"), gone]);
    bytes += CHUNK.length;
  }
  response.end();
  return bytes;
};

/** A provider that answers with 100 MB. `poured` resolves when the connection is closed. */
const servePourer = async (status: number, headers: Record<string, string | number>) => {
  let report = (_bytes: number) => {};
  const poured = new Promise<number>((resolve) => {
    report = resolve;
  });
  const baseUrl = await serveHttp((_request, response) => {
    const gone = once(response, "close");
    response.writeHead(status, headers);
    void Promise.all([pour(response, gone), gone]).then(([bytes]) => report(bytes));
  });
  return { baseUrl, poured };
};

describe.each([
  ["with its length", { "content-length": HUNDRED_MB }],
  ["without its length", {}],
])("a reply of 100 MB %s is not read to its end:", (_, headers) => {
  test.each([
    ["update-container", "ambiguous"],
    ["resume-instance", "ambiguous"],
    ["get-task", "contract"],
  ] as const)("%s is %s, and the rest stays unread", async (id, disposition) => {
    const { baseUrl, poured } = await servePourer(200, headers);
    const { calls } = openClient({ baseUrl, fetch });

    const error = await errorOf(calls[id]());

    expect({ ...error }).toMatchObject({ disposition, code: "reply-unreadable" });
    expect(error.message).toBe(`${id}: the reply is larger than 10000000 bytes`);
    expect(await poured).toBeLessThan(MAX_REPLY_BYTES + ON_THE_WAY_BYTES);
  });

  test("an operation without a reply body is decided by its status", async () => {
    const { baseUrl, poured } = await servePourer(200, headers);
    const { calls } = openClient({ baseUrl, fetch });

    expect(await calls["update-storage-event"]()).toBeUndefined();
    expect(await poured).toBeLessThan(MAX_REPLY_BYTES + ON_THE_WAY_BYTES);
  });

  test.each([
    [400, "permanent", "refused"],
    [503, "ambiguous", "server-error"],
    [302, "ambiguous", "reply-unexpected"],
  ])("a %i keeps its meaning, and its beginning is quoted", async (status, ...meaning) => {
    const { baseUrl, poured } = await servePourer(status, headers);
    const { calls } = openClient({ baseUrl, fetch });

    const error = await errorOf(calls["create-router"]());

    expect([error.disposition, error.code]).toEqual(meaning);
    expect(error.message).toBe(`create-router: ${status} ${meaning[1]}: ${"[".repeat(500)}`);
    expect(await poured).toBeLessThan(MAX_REFUSAL_BYTES + ON_THE_WAY_BYTES);
  });
});

describe("a short reply that unpacks to 100 MB", () => {
  const BOMB = gzipSync(Buffer.alloc(HUNDRED_MB));
  const serveBomb = (status: number) =>
    serveHttp((_request, response) => {
      response.writeHead(status, { "content-encoding": "gzip" }).end(BOMB);
    });

  test.each([
    ["update-container", 200, "ambiguous", "reply-unreadable"],
    ["get-task", 200, "contract", "reply-unreadable"],
    ["get-task", 404, "permanent", "not-found"],
  ] as const)("to %s with status %i is %s", async (id, status, disposition, code) => {
    const { calls } = openClient({ baseUrl: await serveBomb(status), fetch });

    const error = await errorOf(calls[id]());

    expect({ ...error }).toMatchObject({ disposition, code });
  });
});

/** An endless reply that counts how much of it was read. */
const endless = (status: number) => {
  const seen = { bytes: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      seen.bytes += CHUNK.length;
      stream.enqueue(CHUNK);
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { seen, fetch: async () => new Response(body, { status }) };
};

test.each([
  [200, MAX_REPLY_BYTES],
  [400, MAX_REFUSAL_BYTES],
])("an endless %i is read a little beyond its limit at most", async (status, maxBytes) => {
  const { seen, fetch: endlessFetch } = endless(status);
  const { calls } = openClient({ fetch: endlessFetch });

  await errorOf(calls["get-task"]());

  expect(seen.isCancelled).toBe(true);
  expect(seen.bytes).toBeLessThanOrEqual(maxBytes + 2 * CHUNK.length);
});

test("a reply of the maximum size is read, one byte more is refused", async () => {
  const task = (length: number) => `{"id":"t","state":"NEW"${" ".repeat(length - 24)}}`;
  const just = openClient({ fetch: async () => new Response(task(MAX_REPLY_BYTES)) });
  const over = openClient({ fetch: async () => new Response(task(MAX_REPLY_BYTES + 1)) });

  expect(await just.calls["get-task"]()).toEqual({ id: "t", state: "NEW" });
  expect((await errorOf(over.calls["get-task"]())).code).toBe("reply-unreadable");
});

/** A promise that `report` resolves. */
const news = () => {
  let report = () => {};
  const reported = new Promise<void>((resolve) => {
    report = resolve;
  });
  return { reported, report: () => report() };
};

test.each([
  ["update-container", 200, "ambiguous", "timed-out"],
  ["get-task", 200, "transient", "timed-out"],
  ["update-container", 400, "permanent", "refused"],
] as const)(
  "a slow reply to %s ends with the attempt (status %i)",
  async (id, status, ...meaning) => {
    const [head, closed] = [news(), news()];
    const baseUrl = await serveHttp((_request, response) => {
      response.once("close", closed.report);
      response.writeHead(status).write("{");
    });
    const { calls, clock } = openClient({
      baseUrl,
      fetch: async (request) => {
        const response = await fetch(request);
        head.report();
        return response;
      },
    });
    const call = errorOf(calls[id]());
    await head.reported;

    await clock.advance(ATTEMPT_TIMEOUT_MS);

    const error = await call;
    expect([error.disposition, error.code]).toEqual(meaning);
    await closed.reported;
  },
);
