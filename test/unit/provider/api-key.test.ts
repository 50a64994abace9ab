import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { errorOf, everythingIn, openClient } from "./open-client.ts";

const KEY = '42_a1b2"c3\\d4e5f6';

/** Whether an error contains a key, plain or as JSON, in anything that a logger could print. */
const shows = (error: unknown, key: string): boolean => {
  const printed = everythingIn(error);
  const escaped = JSON.stringify(key).slice(1, -1);
  return printed.includes(key) || printed.includes(escaped);
};

test("the key is read for each request, so a rotated key is used at once", async () => {
  const keys = ["old", "new"];
  const sent: (string | null)[] = [];
  const { calls } = openClient({
    apiKey: async () => keys.shift() ?? "none left",
    fetch: async (request) => {
      sent.push(request.headers.get("authorization"));
      return new Response('{"tasks":[]}');
    },
  });

  await calls["update-container"]();
  await calls["update-container"]();

  expect(sent).toEqual(["apikey old", "apikey new"]);
});

test("spaces and line ends around the key are removed", async () => {
  const sent: (string | null)[] = [];
  const { calls } = openClient({
    apiKey: async () => " 42_abc\r\n",
    fetch: async (request) => {
      sent.push(request.headers.get("authorization"));
      return new Response('{"tasks":[]}');
    },
  });

  await calls["update-container"]();

  expect(sent).toEqual(["apikey 42_abc"]);
});

describe("without a valid key nothing is sent:", () => {
  test.each(["update-container", "get-task"] as const)(
    "%s when reading the key fails",
    async (id) => {
      const { calls, asleep } = openClient({
        apiKey: async () => {
          throw new Error("secret /skyhook/api-key cannot be read");
        },
      });

      const error = await errorOf(calls[id]());

      expect({ ...error }).toMatchObject({ disposition: "transient", code: "key-unavailable" });
      expect(error.message).toBe(`${id}: not sent: the API key cannot be read`);
      expect(error.cause).toEqual(new Error("secret /skyhook/api-key cannot be read"));
      expect(asleep()).toBe(0);
    },
  );

  test.each([
    ["is empty", ""],
    ["is only a line end", "\n"],
    ["has a line end inside", "12_ab\ncd"],
    ["has a space inside", "12_ab cd"],
    ["has a character that headers do not allow", "12_ab€cd"],
  ])("the key %s", async (_, key) => {
    const { calls } = openClient({ apiKey: async () => key });

    const error = await errorOf(calls["update-container"]());

    expect({ ...error }).toMatchObject({ disposition: "transient", code: "key-unavailable" });
    expect(error.message).toBe(
      "update-container: not sent: the API key has characters that HTTP headers do not allow",
    );
    expect(key.trim() !== "" && shows(error, key)).toBe(false);
  });
});

describe("no error contains the key when the provider", () => {
  test.each([
    ["quotes it in a message", 401, JSON.stringify({ message: `bad key ${KEY}!` })],
    ["quotes it in an error", 400, JSON.stringify({ error: KEY })],
    ["quotes it in a plain text", 403, `unknown: ${KEY}`],
    ["quotes it where the quote is cut off", 403, `${"x".repeat(495)}${KEY}`],
    ["quotes it as an invalid field", 400, JSON.stringify({ invalid_fields: { [KEY]: [KEY] } })],
    ["quotes it in a page of a 502", 502, `<html>${KEY}</html>`],
    [
      "answers with a body of another shape",
      401,
      JSON.stringify({ detail: [`Authorization: apikey ${KEY}`] }),
    ],
    ["answers with a success that is not JSON", 200, `apikey ${KEY}`],
    ["answers with a success of another shape", 200, JSON.stringify({ tasks: KEY, [KEY]: KEY })],
  ])("%s", async (_, status, body) => {
    const { calls } = openClient({
      apiKey: async () => KEY,
      fetch: async () => new Response(body, { status }),
    });

    const error = await errorOf(calls["update-container"]());

    expect(shows(error, KEY)).toBe(false);
    expect(shows(error, KEY.slice(0, 6))).toBe(false);
  });

  test("echoes the bytes of the request", async () => {
    const server = createServer((socket) => socket.pipe(socket).on("error", () => undefined));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { calls } = openClient({ apiKey: async () => KEY, baseUrl, fetch });

    const error = await errorOf(calls["update-container"]());

    expect({ ...error }).toMatchObject({ disposition: "ambiguous", code: "connection-lost" });
    expect(shows(error, KEY)).toBe(false);
    server.close();
  });
});
