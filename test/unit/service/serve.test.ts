import { connect } from "node:net";
import { expect, test } from "vitest";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import { ATTEMPT_TIMEOUT_MS } from "../../../lib/platform/deployment.ts";
import { createClient } from "../../../lib/provider/client.ts";
import type { ProviderError } from "../../../lib/provider/provider-error.ts";
import { serve } from "../../../lib/service/serve.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { createHttpFaults, type HttpFault, SLOW_MS } from "../../support/http-faults.ts";
import { CONTAINER, EVENT, POLICY, SUSPENDED, startService } from "./harness.ts";

const headers = {
  authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
  "content-type": "application/json",
};

test("the service listens on 127.0.0.1 on a free port", async () => {
  const { service } = await startService();

  const served = await serve(service, 0);
  const response = await fetch(`${served.url}${SUSPENDED}`, { headers });
  const instance = await response.json();
  await served.close();

  expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(response.status).toBe(200);
  expect(instance).toMatchObject({ name: "my-instance" });
});

test("a body over the limit gets 413 over HTTP too", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);

  const response = await fetch(`${served.url}${CONTAINER}`, {
    method: "PATCH",
    headers,
    body: `{"commands":"${"x".repeat(1_048_576)}"}`,
  });
  await response.body?.cancel();
  await served.close();

  expect(response.status).toBe(413);
});

test("after closing there is no response, even on an open connection", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);
  await (await fetch(`${served.url}${SUSPENDED}`, { headers })).text();

  await served.close();

  await expect(fetch(`${served.url}${SUSPENDED}`, { headers })).rejects.toThrow();
});

test("closing does not wait for a request that never completes", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);
  const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // A dropped connection may appear as a reset. Only the end of the connection matters here.
  socket.on("error", () => {});
  socket.write("PATCH /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
  await new Promise((resolve) => socket.once("ready", resolve));

  await served.close();

  await closed;
  expect(socket.destroyed).toBe(true);
});

test("a port in use is an error at the start", async () => {
  const { service } = await startService();
  const served = await serve(service, 0);

  const second = serve(service, Number(new URL(served.url).port));

  await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
  await served.close();
});

/** Sends raw bytes that an HTTP client would not send, and returns the response. */
const exchange = async (url: string, sent: string): Promise<string> => {
  const socket = connect(Number(new URL(url).port), new URL(url).hostname);
  socket.end(sent);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk;
  return answer;
};

test.each([
  ["an invalid host", "GET /v1/tasks/x HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
  ["no path", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
])("a request with %s is refused in the documented format", async (_, sent) => {
  const { service } = await startService();
  const served = await serve(service, 0);

  const answer = await exchange(served.url, sent);
  await served.close();

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toEqual({
    exception_class: "ValidationError",
    message: "request: must have a valid host and target",
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    invalid_fields: { request: ["must have a valid host and target"] },
  });
});

test.each([["evil.example"], ["evil.example@localhost.evil"]])(
  "a request target with the host %s gets 403, even with a local Host header",
  async (host) => {
    const { service } = await startService();
    const served = await serve(service, 0);

    const [status] = await getAs(served.url, "localhost", `http://${host}${SUSPENDED}`);
    const [own] = await getAs(served.url, "localhost", `${served.url}${SUSPENDED}`);
    await served.close();

    expect([status, own]).toEqual([403, 200]);
  },
);

/** The status and body of a GET with the built-in key and the given Host header. */
const getAs = async (
  url: string,
  host: string,
  path = SUSPENDED,
): Promise<readonly [number, unknown]> => {
  const request = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: ${headers.authorization}`,
  ];
  const answer = await exchange(url, [...request, "Connection: close", "", ""].join("\r\n"));
  const body = /^\{.*\}$/m.exec(answer)?.[0];
  return [Number(answer.split(" ")[1]), body === undefined ? undefined : JSON.parse(body)];
};

test.each([
  "evil.example",
  "evil.example:80",
  "127.0.0.1.evil.example",
  "localhost.evil.example:1",
])(
  "a web page that resolves its own name %s to this machine gets 403, even with the key",
  async (host) => {
    const { service } = await startService();
    const served = await serve(service, 0);
    const rule = "host: must be 127.0.0.1, localhost or [::1]";

    const cloud = await getAs(served.url, host);
    const storage = await getAs(served.url, host, `${EVENT}s`);
    const description = await getAs(served.url, host, "/openapi.json");
    await served.close();

    const refusal = {
      exception_class: "ForbiddenError",
      message: rule,
      request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    };
    expect([cloud, storage, description]).toEqual([
      [403, refusal],
      [403, { error: rule }],
      [403, refusal],
    ]);
  },
);

test.each(["127.0.0.1", "localhost:4747", "LOCALHOST", "[::1]:80"])(
  "the loopback name %s is accepted",
  async (host) => {
    const { service } = await startService();
    const served = await serve(service, 0);

    const [status] = await getAs(served.url, host);
    await served.close();

    expect(status).toBe(200);
  },
);

/** An address of this machine that a server on 127.0.0.1 does not listen at. Linux has the whole range. */
const OTHER_ADDRESS = "127.0.0.2";

test.runIf(process.platform === "linux")(
  "only a server at every address is reached at another one, under an allowed host name",
  async () => {
    const { service } = await startService();
    const atEvery = await serve(service, 0, { address: "0.0.0.0", allowedHosts: ["other"] });
    const byDefault = await serve(service, 0);
    const elsewhere = ({ url }: { url: string }) => url.replace("127.0.0.1", OTHER_ADDRESS);

    const answers = [
      await getAs(elsewhere(atEvery), "other"),
      await getAs(elsewhere(atEvery), OTHER_ADDRESS),
    ];
    await expect(getAs(elsewhere(byDefault), "localhost")).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
    await atEvery.close();
    await byDefault.close();

    expect(atEvery.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(answers.map(([status]) => status)).toEqual([200, 403]);
  },
);

test.runIf(process.platform === "linux")(
  "a server at one address names it in its URL, and accepts it as host",
  async () => {
    const { service } = await startService();
    const served = await serve(service, 0, { address: OTHER_ADDRESS });

    const { host, hostname } = new URL(served.url);
    const [status] = await getAs(served.url, host);
    await served.close();

    expect([hostname, status]).toEqual([OTHER_ADDRESS, 200]);
  },
);

test("an allowed host name is accepted, and the error for another one lists it", async () => {
  const { service } = await startService();
  const served = await serve(service, 0, { allowedHosts: ["Cloud.internal"] });

  const [allowed] = await getAs(served.url, "cloud.INTERNAL:8080");
  const [status, body] = await getAs(served.url, "evil.example");
  await served.close();

  expect([allowed, status]).toEqual([200, 403]);
  expect(body).toMatchObject({
    message: "host: must be 127.0.0.1, localhost, [::1] or cloud.internal",
  });
});

test.each([
  ["an announced length", "Content-Length: 10\r\n\r\n{"],
  ["chunks", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"],
])(
  "a connection that closes in the middle of a body of %s is no fault of the service",
  async (_, rest) => {
    const { service, faults } = await startService();
    const answered: Promise<Response>[] = [];
    const served = await serve(
      {
        ...service,
        fetch: (request) => {
          const answer = service.fetch(request);
          answered.push(answer);
          return answer;
        },
      },
      0,
    );
    const key = BUILT_IN_API_KEYS.first;
    const socket = connect(Number(new URL(served.url).port), "127.0.0.1");
    socket.write(
      `PATCH ${CONTAINER} HTTP/1.1\r\nHost: localhost\r\nAuthorization: apikey ${key}\r\n${rest}`,
    );
    while (answered.length === 0) await new Promise((resolve) => setImmediate(resolve));

    socket.destroy();
    const [answer] = await Promise.all(answered);
    await served.close();

    expect([answer?.status, faults]).toEqual([400, []]);
  },
);

const startBehindFaults = async () => {
  const { service, clock, send } = await startService();
  const faults = createHttpFaults(service.fetch, clock, ({ method }) => method === "PATCH");
  const client = createClient({
    baseUrl: "http://service.test",
    apiKey: async () => BUILT_IN_API_KEYS.first,
    fetch: faults.fetch,
    clock,
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    paths: {},
  });
  const update = (name: string) =>
    client
      .call(updatePolicy, {
        params: { project_id: 1234567, region_id: 76, policy_id: 1 },
        query: {},
        body: { name },
      })
      .then(
        (policy) => policy.name,
        ({ disposition, code }: ProviderError) => `${disposition} ${code}`,
      );
  return { faults, clock, update, nameNow: async () => (await send("GET", POLICY)).body.name };
};

test.each<[HttpFault, string, boolean]>([
  ["fails before the effect", "ambiguous server-error", false],
  ["fails after the effect", "ambiguous server-error", true],
  ["a gateway answers HTML 504 before the effect", "ambiguous server-error", false],
  ["a gateway answers HTML 504 after the effect", "ambiguous server-error", true],
  ["is throttled", "throttled throttled", false],
  ["the connection breaks before the effect", "ambiguous connection-lost", false],
  ["the connection breaks after the effect", "ambiguous connection-lost", true],
  ["the reply is cut off", "ambiguous connection-lost", true],
])(
  "when a request %s, the client sees %s, and the request took effect: %s",
  async (fault, seen, hasEffect) => {
    const { faults, update, nameNow } = await startBehindFaults();
    const before = await nameNow();
    faults.strike(fault);

    const first = await update("struck-one");
    const afterFirst = await nameNow();
    const second = await update("next-one");

    expect(first).toBe(seen);
    expect(afterFirst).toBe(hasEffect ? "struck-one" : before);
    expect([second, await nameNow(), faults.seen()]).toEqual(["next-one", "next-one", 2]);
  },
);

test.each<[HttpFault, boolean]>([
  ["the effect is slow", false],
  ["the reply is slow", true],
])(
  "when %s, the request has taken effect at the client's time-out: %s, and always does later",
  async (fault, isThereAtOnce) => {
    const { faults, clock, update, nameNow } = await startBehindFaults();
    const before = await nameNow();
    faults.strike(fault);

    const answer = update("slow-one");
    await clock.advance(10_000);
    const seen = await answer;
    const whenGivenUp = await nameNow();
    await clock.advance(SLOW_MS);

    expect(seen).toBe("ambiguous timed-out");
    expect(whenGivenUp).toBe(isThereAtOnce ? "slow-one" : before);
    expect(await nameNow()).toBe("slow-one");
  },
);
