import { describe, expect, test } from "vitest";
import { type CallId, errorOf, openClient } from "./open-client.ts";

const answer = (status: number, body: string | null = "", headers: Record<string, string> = {}) => {
  // The constructor of Response refuses some statuses that a server may send.
  const response = new Response(body, { status: 200, headers });
  Object.defineProperties(response, {
    status: { value: status },
    ok: { value: status >= 200 && status < 300 },
  });
  return async () => response;
};

describe("the disposition of an error status:", () => {
  test.each<[number, CallId, string, string]>([
    [301, "update-container", "ambiguous", "reply-unexpected"],
    [302, "get-task", "transient", "reply-unexpected"],
    [304, "get-task", "transient", "reply-unexpected"],
    [307, "create-router", "ambiguous", "reply-unexpected"],
    [400, "update-container", "permanent", "refused"],
    [400, "get-task", "permanent", "refused"],
    [401, "update-container", "transient", "key-refused"],
    [401, "get-task", "transient", "key-refused"],
    [403, "update-container", "permanent", "forbidden"],
    [403, "get-task", "permanent", "forbidden"],
    [404, "update-container", "permanent", "not-found"],
    [404, "get-task", "permanent", "not-found"],
    [405, "update-container", "permanent", "refused"],
    [408, "update-container", "transient", "timed-out"],
    [408, "get-task", "transient", "timed-out"],
    [409, "update-container", "transient", "locked"],
    [409, "resume-instance", "transient", "locked"],
    [409, "update-policy", "permanent", "conflict"],
    [409, "create-router", "permanent", "conflict"],
    [409, "create-storage-event", "permanent", "conflict"],
    [409, "update-storage-event", "permanent", "conflict"],
    [409, "get-task", "permanent", "conflict"],
    [422, "update-container", "permanent", "refused"],
    [429, "update-container", "throttled", "throttled"],
    [429, "get-task", "throttled", "throttled"],
    [499, "create-router", "permanent", "refused"],
    [500, "update-container", "ambiguous", "server-error"],
    [500, "get-task", "transient", "server-error"],
    [502, "create-router", "ambiguous", "server-error"],
    [503, "update-policy", "ambiguous", "server-error"],
    [504, "resume-instance", "ambiguous", "server-error"],
    [504, "get-instance", "transient", "server-error"],
    [599, "create-storage-event", "ambiguous", "server-error"],
  ])("%i to %s is %s, %s", async (status, id, disposition, code) => {
    const { calls } = openClient({ fetch: answer(status) });

    const error = await errorOf(calls[id]());

    expect({ ...error }).toMatchObject({ disposition, code, status, problems: [] });
    expect(error.message).toBe(`${id}: ${status} ${code}`);
  });
});

describe("an unusable success reply:", () => {
  const policy = '{"id":1,"name":"p"}';

  test.each<[string, CallId, string, string, string]>([
    ["an empty body", "update-container", "", "ambiguous", "reply-unreadable"],
    ["an empty body", "update-policy", "", "ambiguous", "reply-unreadable"],
    ["an empty body", "get-task", "", "contract", "reply-unreadable"],
    ["an HTML page", "create-router", "<html>Welcome</html>", "ambiguous", "reply-unreadable"],
    ["an HTML page", "get-task", "<html>Welcome</html>", "contract", "reply-unreadable"],
    ["half a body", "update-container", '{"tasks":["50f5', "ambiguous", "reply-unreadable"],
    ["half a body", "create-storage-event", '{"name":', "ambiguous", "reply-unreadable"],
    ["no task ids", "update-container", "{}", "ambiguous", "reply-unexpected"],
    ["no task ids", "create-router", '{"tasks":null}', "ambiguous", "reply-unexpected"],
    ["a record of another shape", "update-policy", policy, "contract", "reply-unexpected"],
    ["a record of another shape", "resume-instance", "{}", "contract", "reply-unexpected"],
    [
      "a record of another shape",
      "create-storage-event",
      '{"name":5}',
      "contract",
      "reply-unexpected",
    ],
    ["a record of another shape", "get-task", '{"task_id":"t"}', "contract", "reply-unexpected"],
    [
      "a body with too many levels",
      "get-task",
      "[".repeat(1_000_000),
      "contract",
      "reply-unreadable",
    ],
  ])("%s for %s is %j", async (_, id, text, disposition, code) => {
    const { calls } = openClient({ fetch: answer(200, text) });

    const error = await errorOf(calls[id]());

    expect({ ...error }).toMatchObject({ disposition, code, status: undefined });
  });

  test("is reported with the field that violates the contract", async () => {
    const { calls } = openClient({ fetch: answer(200, '{"id":"t","state":7}') });

    const error = await errorOf(calls["get-task"]());

    expect(error.message).toBe("get-task: the reply violates the contract");
    expect(error.problems).toEqual([{ path: "state", rule: "a string" }]);
  });
});

test("any 2xx status with the operation's reply is a success", async () => {
  const { calls } = openClient({ fetch: answer(202, '{"tasks":["a"],"new_field":1}') });

  expect(await calls["update-container"]()).toEqual({ tasks: ["a"], new_field: 1 });
});

describe("the error quotes the body of the provider:", () => {
  test.each([
    ["the cloud's message", '{"exception_class":"E","message":"name taken"}', ": name taken"],
    ["the storage's error", '{"error":"no such storage"}', ": no such storage"],
    ["an empty message beside an error", '{"message":"","error":"e"}', ": e"],
    ["a body of another shape", '{"detail":"token_not_valid"}', ': {"detail":"token_not_valid"}'],
    ["a message that is not a string", '{"message":{"a":1}}', ': {"message":{"a":1}}'],
    ["a list", '["no"]', ': ["no"]'],
    ["an HTML page", "<html>\r\n<head>\t<title>Bad</title>", ": <html> <head> <title>Bad</title>"],
    ["a long text", `"${"é".repeat(600)}"`, `: "${"é".repeat(499)}`],
    ["half an emoji at the end", `${"e".repeat(499)}😀`, `: ${"e".repeat(499)}`],
    ["nothing", "", ""],
  ])("%s", async (_, body, quoted) => {
    const { calls } = openClient({ fetch: answer(400, body) });

    const error = await errorOf(calls["update-container"]());

    expect(error.message).toBe(`update-container: 400 refused${quoted}`);
    expect(error.problems).toEqual([]);
  });

  test("each invalid field becomes one problem", async () => {
    const body = {
      exception_class: "ValidationError",
      message: "bad request",
      invalid_fields: { name: ["too short", "has a #"], flavor: "unknown", image: [] },
    };
    const { calls } = openClient({ fetch: answer(400, JSON.stringify(body)) });

    const error = await errorOf(calls["update-container"]());

    expect(error.message).toBe("update-container: 400 refused: bad request");
    expect(error.problems).toEqual([
      { path: "name", rule: "too short; has a #" },
      { path: "flavor", rule: "unknown" },
      { path: "image", rule: "" },
    ]);
  });

  test("only the first hundred invalid fields are reported", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`field${index}`, ["x".repeat(600)]]),
    );
    const { calls } = openClient({
      fetch: answer(400, JSON.stringify({ invalid_fields: fields })),
    });

    const { problems } = await errorOf(calls["update-container"]());

    expect(problems.length).toBe(100);
    expect(problems[99]).toEqual({ path: "field99", rule: "x".repeat(500) });
  });

  test("a body of many megabytes is quoted without parsing it", async () => {
    const { calls } = openClient({ fetch: answer(400, `{"message":"${"x".repeat(20_000_000)}"}`) });

    const error = await errorOf(calls["update-container"]());

    expect(error.message).toBe(`update-container: 400 refused: {"message":"${"x".repeat(488)}`);
  });
});

describe("the pause of Retry-After:", () => {
  test.each([
    ["seconds", "120", 120_000],
    ["seconds with spaces", " 7 ", 7000],
    ["no pause", "0", undefined],
    ["more than a day", "99999999999999999999", 86_400_000],
    ["a date", "Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["a date of the obsolete form", "Thursday, 01-Jan-26 00:01:00 GMT", 60_000],
    ["a date in the past", "Wed, 31 Dec 2025 23:59:59 GMT", undefined],
    ["an invalid date", "Thu, 99 Jan 2026 00:00:30 GMT", undefined],
    ["a word", "soon", undefined],
    ["a word and a number", "soon 5", undefined],
    ["a word and a year", "soon 2030", undefined],
    ["a fraction", "1.5", undefined],
    ["a negative number", "-5", undefined],
    ["an exponent", "1e3", undefined],
    ["an empty header", "", undefined],
  ])("%s, %j, is %s", async (_, header, retryAfterMs) => {
    const { calls } = openClient({ fetch: answer(429, "", { "retry-after": header }) });

    expect((await errorOf(calls["update-container"]())).retryAfterMs).toBe(retryAfterMs);
  });

  test("is undefined without the header", async () => {
    const { calls } = openClient({ fetch: answer(429) });

    expect((await errorOf(calls["update-container"]())).retryAfterMs).toBeUndefined();
  });

  test("is 10 s for a lock without the header", async () => {
    const silent = openClient({ fetch: answer(409) });
    const speaking = openClient({ fetch: answer(409, "", { "retry-after": "3" }) });

    expect((await errorOf(silent.calls["update-container"]())).retryAfterMs).toBe(10_000);
    expect((await errorOf(speaking.calls["update-container"]())).retryAfterMs).toBe(3000);
  });

  test("is also read from a 5xx", async () => {
    const { calls } = openClient({ fetch: answer(503, "", { "retry-after": "9" }) });

    expect((await errorOf(calls["get-task"]())).retryAfterMs).toBe(9000);
  });
});
