import { describe, expect, it } from "vitest";
import { useLocalConsole } from "./use-local-console.ts";

const run = useLocalConsole();

const post = (path: string, body: string, contentType = "application/json"): Promise<Response> =>
  fetch(`${run.gateway.url}/dead-letters/${path}`, {
    method: "POST",
    headers: { ...run.gateway.headers, "content-type": contentType },
    body,
  });

describe("the dead letters of a local run", () => {
  it("are empty at first", async () => {
    const answer = await fetch(`${run.gateway.url}/dead-letters`, { headers: run.gateway.headers });

    expect(await answer.json()).toEqual({ deadLetters: [], more: 0 });
  });

  it.each([
    ["redrive", '{"ids":[]}'],
    ["redrive", "{}"],
    ["redrive", '{"all":false}'],
    ["redrive", '{"all":true,"ids":["m1"]}'],
    ["redrive", "{"],
    ["delete", '{"all":true}'],
    ["delete", '{"ids":["m1"]}'],
    ["delete", '{"ids":[""],"force":true}'],
    ["delete", '{"matching":{},"force":true}'],
    ["redrive", '{"matching":{"until":"2026-01-01T00:00:00Z"}}'],
    ["redrive", '{"matching":{"queue":"commands"},"ids":["m1"]}'],
  ])("stay as they are after an invalid request to %s: %s", async (path, body) => {
    const answer = await post(path, body);

    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error:
        "the body must be a JSON object with ids, a list of 1 to 1,000 message ids of dead letters, or with matching, an object with queue, reason, since or until",
    });
  });

  it.each(["redrive", "delete"])(
    "stay as they are after a form of a web page (%s)",
    async (path) => {
      expect((await post(path, '{"all":true}', "text/plain")).status).toBe(415);
    },
  );

  it("are each reported as not found", async () => {
    const answer = await post("delete", '{"ids":["m1"],"force":false}');

    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual([
      {
        messageId: "m1",
        outcome: "not-found",
        why: "not among the messages that can be received now",
      },
    ]);
  });
});
