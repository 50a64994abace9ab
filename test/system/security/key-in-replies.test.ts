import { describe, expect, test } from "vitest";
import { openClient } from "../../unit/provider/open-client.ts";

const KEY = '4242$a1b2"c3';
const reply = (body: unknown) => ({
  apiKey: async () => KEY,
  fetch: async () => new Response(typeof body === "string" ? body : JSON.stringify(body)),
});

describe("a successful reply that quotes the key is read without it:", () => {
  test.each([
    ["a task's error", { error: `no rights for ${KEY}` }, { error: "no rights for [redacted]" }],
    ["a nested field", { more: [{ a: KEY }] }, { more: [{ a: "[redacted]" }] }],
    ["the name of a field", { [KEY]: 1 }, { "[redacted]": 1 }],
    ["a URL", { next: `/?k=${encodeURIComponent(KEY)}` }, { next: "/?k=[redacted]" }],
    [
      "a JSON text in a URL",
      { next: `/?sent=${encodeURIComponent(JSON.stringify({ KEY }))}` },
      { next: "/?sent=%7B%22KEY%22%3A%22[redacted]%22%7D" },
    ],
    [
      "a URL with lower-case codes",
      { next: `/?k=${encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())}` },
      { next: "/?k=[redacted]" },
    ],
    ["a JSON text", { sent: JSON.stringify({ KEY }) }, { sent: '{"KEY":"[redacted]"}' }],
  ])("%s", async (_, quoting, expected) => {
    const { calls } = openClient(reply({ id: "t", state: "ERROR", ...quoting }));

    expect(await calls["get-task"]()).toEqual({ id: "t", state: "ERROR", ...expected });
  });

  test("a number with the key's digits stays a number", async () => {
    const text = '{"id":"t","state":"NEW","project_id":12345678,"error":"key 12345678"}';
    const { calls } = openClient({ ...reply(text), apiKey: async () => "12345678" });

    expect(await calls["get-task"]()).toMatchObject({
      project_id: 12345678,
      error: "key [redacted]",
    });
  });

  test("a word of the interface stays, although a key could equal it", async () => {
    const { calls } = openClient({
      ...reply({ id: "t", state: "NEW" }),
      apiKey: async () => "state",
    });

    expect(await calls["get-task"]()).toEqual({ id: "t", state: "NEW" });
  });
});
