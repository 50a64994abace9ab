import { describe, expect, it } from "vitest";
import { startService } from "./harness.ts";

const POLICY = "/cloud/v1/lifecycle_policy/1234567/76/1";
const SECRET = "canary-secret-value";

describe("the request log of the service", () => {
  it("has time, path, operation, status and duration of each request, the newest first", async () => {
    const { send, clock, requestLog } = await startService();
    await send("GET", `${POLICY}?need_volumes=true`);
    await clock.advance(1_000);
    await send("PATCH", POLICY, { body: { status: "paused" } });

    expect(requestLog.list()).toEqual([
      {
        number: 2,
        time: "2026-01-01T00:00:01.000Z",
        method: "PATCH",
        path: POLICY,
        operation: "update-policy",
        status: 200,
        durationMs: 0,
      },
      {
        number: 1,
        time: "2026-01-01T00:00:00.000Z",
        method: "GET",
        path: POLICY,
        operation: "get-policy",
        status: 200,
        durationMs: 0,
      },
    ]);
  });

  it("has the id of an error that its caller got", async () => {
    const { send, requestLog } = await startService();
    const { body } = await send("GET", "/cloud/v1/lifecycle_policy/1234567/76/99");

    expect(requestLog.list()[0]).toMatchObject({ status: 404, requestId: body.request_id });
  });

  it("has no operation for an unknown path", async () => {
    const { send, requestLog } = await startService();
    await send("GET", "/cloud/v9/nothing");

    expect(requestLog.list()[0]).not.toHaveProperty("operation");
  });

  it("holds no key, no header, no query and no body", async () => {
    const { send, requestLog } = await startService({ apiKey: SECRET });
    const headers = { authorization: `apikey ${SECRET}`, "x-more": SECRET };
    const path = "/cloud/v1/caas/1234567/76/containers/my-container";
    await send("PATCH", `${path}?key=${SECRET}`, { headers, body: { envs: { TOKEN: SECRET } } });
    await send("PATCH", path, { headers, body: { envs: { TOKEN: SECRET } } });

    expect(requestLog.list()).toHaveLength(2);
    expect(JSON.stringify(requestLog.list())).not.toContain(SECRET);
  });

  it("keeps the newest 200", async () => {
    const { send, requestLog } = await startService();
    for (let n = 1; n <= 450; n++) await send("GET", `/${n}`);

    const numbers = requestLog.list().map(({ number, path }) => [number, path]);

    expect(numbers).toHaveLength(200);
    expect(numbers[0]).toEqual([450, "/450"]);
    expect(numbers.at(-1)).toEqual([251, "/251"]);
  });

  it("cuts a long path and a long method", async () => {
    const { send, requestLog } = await startService();
    await send("X".repeat(1_000), `/${"y".repeat(5_000)}`);

    const [logged] = requestLog.list();

    expect(logged?.method).toHaveLength(20);
    expect(logged?.path).toHaveLength(300);
  });
});
