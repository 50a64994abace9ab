import { createServer, type RequestListener } from "node:http";
import net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type CallId, errorOf, openClient } from "./open-client.ts";

const opened: net.Server[] = [];
afterEach(async () => {
  await Promise.all(
    opened.splice(0).map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          if ("closeAllConnections" in server)
            (server as ReturnType<typeof createServer>).closeAllConnections();
        }),
    ),
  );
});

const listen = async (server: net.Server): Promise<string> => {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
};

/** A server of raw bytes; calls back with the socket when the first bytes of a request arrive. */
const serveSocket = (onRequest: (socket: net.Socket) => void) =>
  listen(
    net.createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => onRequest(socket));
    }),
  );
const serve = (listener: RequestListener) => listen(createServer(listener));

/** Returns an address without a server. */
const deadUrl = async (host: string): Promise<string> => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://${host}:${port}`;
};

const overFetch = (baseUrl: string) => openClient({ baseUrl, fetch });
const MUTATION_AND_READ = ["update-container", "get-task"] as const;

describe.each(MUTATION_AND_READ)("%s without a connection is transient:", (id) => {
  test("no server listens at the address", async () => {
    const { calls } = overFetch(await deadUrl("127.0.0.1"));

    const error = await errorOf(calls[id]());

    expect({ ...error }).toMatchObject({ disposition: "transient", code: "connection-failed" });
    expect(error.message).toBe(`${id}: no connection (ECONNREFUSED)`);
  });

  test("no server listens at localhost", async () => {
    const { calls } = overFetch(await deadUrl("localhost"));

    expect(await errorOf(calls[id]())).toMatchObject({
      disposition: "transient",
      code: "connection-failed",
    });
  });

  test("the name does not exist", async () => {
    const { calls } = overFetch("http://no-such-host.invalid");

    expect(await errorOf(calls[id]())).toMatchObject({
      disposition: "transient",
      code: "connection-failed",
    });
  });

  test("no server listens at any of the addresses of a name", async () => {
    const { port } = new URL(await deadUrl("127.0.0.1"));
    const refused = await connectError({
      host: "two-addresses.example",
      port: Number(port),
      autoSelectFamily: true,
      lookup: (_host, _options, done) =>
        done(null, [
          { address: "127.0.0.1", family: 4 },
          { address: "::1", family: 6 },
        ]),
    });
    expect(refused).toBeInstanceOf(AggregateError);
    const { calls } = openClient({ fetch: failing(refused) });

    expect(await errorOf(calls[id]())).toMatchObject({
      disposition: "transient",
      code: "connection-failed",
    });
  });
});

/** The error of `net.connect`. */
const connectError = (options: net.NetConnectOpts): Promise<Error> =>
  new Promise((resolve) => net.connect(options).once("error", resolve));

/** Rejects like the global fetch: with the network's error as the cause. */
const failing = (cause: unknown) => async () => {
  throw new TypeError("fetch failed", { cause });
};

const networkError = (fields: { code?: string; syscall?: string }) =>
  Object.assign(new Error("network"), fields);

describe("the error of the network shows whether a mutation left:", () => {
  test.each([
    ["a connection that took too long", networkError({ code: "UND_ERR_CONNECT_TIMEOUT" })],
    ["an unreachable name server", networkError({ code: "EAI_AGAIN", syscall: "getaddrinfo" })],
    ["no route to connect", networkError({ code: "EHOSTUNREACH", syscall: "connect" })],
    ["a reset instead of a connection", networkError({ code: "ECONNRESET", syscall: "connect" })],
    ["a connect without a reply", networkError({ code: "ETIMEDOUT", syscall: "connect" })],
    ["an expired certificate", networkError({ code: "CERT_HAS_EXPIRED" })],
    ["a certificate of another name", networkError({ code: "ERR_TLS_CERT_ALTNAME_INVALID" })],
    [
      "two addresses with different errors",
      new AggregateError([
        networkError({ code: "ENETUNREACH", syscall: "connect" }),
        networkError({ code: "ECONNREFUSED", syscall: "connect" }),
      ]),
    ],
  ])("it did not after %s", async (_, cause) => {
    const { calls } = openClient({ fetch: failing(cause) });

    expect(await errorOf(calls["create-router"]())).toMatchObject({
      disposition: "transient",
      code: "connection-failed",
    });
  });

  test.each([
    ["a reset", networkError({ code: "ECONNRESET", syscall: "read" })],
    ["a route lost after connecting", networkError({ code: "EHOSTUNREACH", syscall: "read" })],
    ["a read without a reply", networkError({ code: "ETIMEDOUT", syscall: "read" })],
    ["a broken pipe", networkError({ code: "EPIPE", syscall: "write" })],
    ["headers that never arrived", networkError({ code: "UND_ERR_HEADERS_TIMEOUT" })],
    ["a TLS error after connecting", networkError({ code: "ERR_SSL_WRONG_VERSION_NUMBER" })],
    ["an error without a code", new Error("other side")],
    ["no cause at all", undefined],
    ["a cause that is no error", "gone"],
    ["an empty AggregateError", new AggregateError([])],
    [
      "two addresses, one of them reached",
      new AggregateError([
        networkError({ code: "ECONNREFUSED", syscall: "connect" }),
        networkError({ code: "ECONNRESET", syscall: "read" }),
      ]),
    ],
  ])("it may have after %s", async (_, cause) => {
    const { calls } = openClient({ fetch: failing(cause) });

    expect(await errorOf(calls["create-router"]())).toMatchObject({
      disposition: "ambiguous",
      code: "connection-lost",
    });
  });
});

describe("a connection lost after the request arrived is ambiguous for a mutation, transient for a read:", () => {
  const TASK_START = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"tasks":["50f5';
  const CHUNK = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n{"tasks":[\r\n';

  test.each<[string, (socket: net.Socket) => void]>([
    ["reset", (socket) => void socket.resetAndDestroy()],
    ["closed without a reply", (socket) => void socket.end()],
    ["closed inside the reply", (socket) => void socket.end(TASK_START)],
    ["closed inside a chunked reply", (socket) => void socket.end(CHUNK)],
    ["a reply that is not HTTP", (socket) => void socket.end("220 mail.example ESMTP\r\n")],
  ])("%s", async (_, onRequest) => {
    const { calls } = overFetch(await serveSocket(onRequest));

    expect(await errorOf(calls["update-container"]())).toMatchObject({
      disposition: "ambiguous",
      code: "connection-lost",
      status: undefined,
    });
    expect(await errorOf(calls["get-task"]())).toMatchObject({
      disposition: "transient",
      code: "connection-lost",
    });
  });
});

test.each<[number, CallId, string, string]>([
  [400, "update-container", "permanent", "refused"],
  [429, "update-container", "throttled", "throttled"],
  [503, "update-container", "ambiguous", "server-error"],
])("a %i keeps its meaning when its body is cut off", async (status, id, disposition, code) => {
  const head = `HTTP/1.1 ${status} No\r\nretry-after: 5\r\ncontent-length: 100\r\n\r\n{"mess`;
  const { calls } = overFetch(await serveSocket((socket) => socket.end(head)));

  expect(await errorOf(calls[id]())).toMatchObject({
    disposition,
    code,
    status,
    retryAfterMs: 5000,
  });
});

test.each([301, 302, 303, 307, 308])("a redirect with %i is not followed", async (status) => {
  const paths: (string | undefined)[] = [];
  const baseUrl = await serve((request, response) => {
    paths.push(request.url);
    response.writeHead(status, { location: "/elsewhere" }).end();
  });
  const { calls } = overFetch(baseUrl);

  expect(await errorOf(calls["get-task"]())).toMatchObject({ code: "reply-unexpected", status });
  expect(await errorOf(calls["create-router"]())).toMatchObject({ disposition: "ambiguous" });

  expect(paths).toEqual(["/v1/tasks/t", "/cloud/v1/routers/1/2"]);
});

test("the request on the wire is the documented one", async () => {
  const seen: unknown[] = [];
  const baseUrl = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { authorization, "content-type": contentType } = request.headers;
      const body = Buffer.concat(chunks).toString();
      seen.push([request.method, request.url, authorization, contentType, body]);
      response.writeHead(200).end('{"name":"reaching_used_space","bytes":18446744073709551615}');
    });
  });
  const { calls } = overFetch(baseUrl);

  expect(await calls["create-storage-event"]()).toEqual({
    name: "reaching_used_space",
    bytes: "18446744073709551615",
  });

  expect(seen).toEqual([
    [
      "POST",
      "/storage/notifications/v1/event",
      "apikey 1234$abcdef",
      "application/json",
      '{"name":"reaching_used_space","bytes":18446744073709551615}',
    ],
  ]);
});
