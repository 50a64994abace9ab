import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { errorOf, everythingIn, openClient } from "../../unit/provider/open-client.ts";
import { serveHttp } from "./served.ts";

const KEY = "canary-key-0123456789";

/** A provider that redirects every request to another host, which records its requests. */
const serveRedirect = async (status: number, hostIn = (url: string) => url) => {
  const guests: IncomingMessage[] = [];
  const elsewhere = await serveHttp((request, response) => {
    guests.push(request);
    response.writeHead(200).end('{"id":"t","state":"FINISHED","tasks":[]}');
  });
  const location = `${hostIn(elsewhere)}/collect?from=provider`;
  const baseUrl = await serveHttp((_request, response) => {
    response.writeHead(status, { location }).end(`moved to ${location}`);
  });
  const { calls } = openClient({ baseUrl, fetch, apiKey: async () => KEY });
  return { guests, calls };
};

describe.each([300, 301, 302, 303, 305, 307, 308])("a %i to another host", (status) => {
  test("is not followed for a mutation, which gets an unknown outcome", async () => {
    const { guests, calls } = await serveRedirect(status);

    const error = await errorOf(calls["create-router"]());

    expect(guests).toEqual([]);
    expect({ ...error }).toMatchObject({ disposition: "ambiguous", code: "reply-unexpected" });
    expect(everythingIn(error)).not.toContain(KEY);
  });

  test("is not followed for a read, which may be retried", async () => {
    const { guests, calls } = await serveRedirect(status);

    const error = await errorOf(calls["get-task"]());

    expect(guests).toEqual([]);
    expect({ ...error }).toMatchObject({ disposition: "transient", code: "reply-unexpected" });
  });
});

test.each([
  ["the same host under another name", (url: string) => url.replace("127.0.0.1", "localhost")],
  ["an address without a scheme", (url: string) => url.replace("http:", "")],
  ["an address with a name and a password", (url: string) => url.replace("//", "//user:word@")],
])("a redirect to %s is not followed either", async (_, hostIn) => {
  const { guests, calls } = await serveRedirect(307, hostIn);

  await errorOf(calls["update-container"]());

  expect(guests).toEqual([]);
});
