import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { commands } from "../../../lib/engine/command.ts";
import { lanes } from "../../../lib/engine/lane.ts";
import { createLocalAdmin } from "../../../lib/local/local-admin.ts";
import { LOCAL_SENDER } from "../../../lib/local/local-sender.ts";
import { newRateLimit, pauseRequests, rateLimits } from "../../../lib/provider/rate-limit.ts";
import { commandOf } from "../../support/commands.ts";
import { updatePolicy } from "../../support/requests.ts";
import { useLocalConsole } from "./use-local-console.ts";

const run = useLocalConsole();

const post = (body: string, contentType = "application/json"): Promise<Response> =>
  fetch(`${run.gateway.url}/commands`, {
    method: "POST",
    headers: { ...run.gateway.headers, "content-type": contentType },
    body,
  });

const send = (detail: unknown): Promise<Response> => post(JSON.stringify(detail));

const answerSchema = z.looseObject({
  kind: z.string().optional(),
  endedAt: z.string().optional(),
});

const look = async (commandId: string, eventId: string) => {
  const url = `${run.gateway.url}/commands/${commandId}?event=${encodeURIComponent(eventId)}`;
  const response = await fetch(url, { headers: run.gateway.headers });
  return { status: response.status, body: answerSchema.parse(await response.json()) };
};

/** Outcome of a request, once there is one. */
const outcomeOf = async (commandId: string, eventId: string) => {
  for (;;) {
    const { status, body } = await look(commandId, eventId);
    if (status === 200 && (body.kind === "rejected" || body.endedAt)) return body;
    await sleep(10);
  }
};

describe("the gateway of a local run", () => {
  it("accepts a command and reports its status", async () => {
    run.automation.start();

    const answer = await send(updatePolicy("p1"));

    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ commandId: "p1", eventId: "event-p1" });
    expect(await outcomeOf("p1", "event-p1")).toMatchObject({
      kind: "command",
      status: "succeeded",
    });
  });

  it("reports which lanes are held", async () => {
    const { ledger } = run.automation.deps;
    const command = commandOf({ sender: LOCAL_SENDER, state: { status: "waiting" } });
    await commands.write(ledger, `${LOCAL_SENDER}/c1`, undefined, command);
    const lane = { holder: `${LOCAL_SENDER}/c1`, waiting: [], changedAt: 1_000 };
    await lanes.write(ledger, command.lane, undefined, lane);

    const answer = await fetch(`${run.gateway.url}/open`, { headers: run.gateway.headers });

    expect(await answer.json()).toMatchObject({
      lanes: [{ lane: command.lane, holder: { commandId: "c1" }, waiting: [] }],
      commands: 1,
      more: false,
    });
  });

  it("does not report another command's success for a request with a reused id", async () => {
    run.automation.start();
    await send(updatePolicy("p1"));
    await outcomeOf("p1", "event-p1");
    const other = updatePolicy("p1", { status: "active" });

    await send({ ...other, metadata: { ...other.metadata, id: "event-other" } });

    expect(await outcomeOf("p1", "event-other")).toMatchObject({
      kind: "rejected",
      reason: "id-reused",
    });
  });

  it("answers 404 for a request that still waits in the queue", async () => {
    await send(updatePolicy("p1"));

    expect(await look("p1", "event-p1")).toEqual({
      status: 404,
      body: { error: "no such command" },
    });
  });

  it.each([
    ["has the maximum length", "x".repeat(256)],
    ["has letters that a queue refuses", "événement 1"],
  ])("accepts an event with an id that %s", async (_what, id) => {
    run.automation.start();
    const detail = updatePolicy("p1");

    const answer = await send({ ...detail, metadata: { ...detail.metadata, id } });

    expect(answer.status).toBe(202);
    expect(await outcomeOf("p1", id)).toMatchObject({ status: "succeeded" });
  });

  it("accepts characters that a queue refuses", async () => {
    run.automation.start();

    const answer = await send(updatePolicy("p1", { name: "a\ufffe\uffffb" }));

    expect(answer.status).toBe(202);
    expect(await outcomeOf("p1", "event-p1")).toMatchObject({ reason: "invalid" });
  });

  it.each([
    ["a form of a web page", "{}", "text/plain", 415],
    ["an empty body", "", "application/json", 400],
    [
      "a request without an id",
      '{"metadata":{},"data":{"operation":"update-policy"}}',
      "application/json",
      400,
    ],
    [
      "an internal message of the queue",
      '{"resume":{"command":"c","lane":"l"}}',
      "application/json",
      400,
    ],
    ["a body beyond the size of an event", " ".repeat(262_145), "application/json", 413],
  ])("refuses %s", async (_what, body, contentType, status) => {
    expect((await post(body, contentType)).status).toBe(status);
  });

  it.each(["?since=yesterday", "?since=", ""])(
    "refuses a `since` of price changes that is no time: %j",
    async (query) => {
      const answer = await fetch(`${run.gateway.url}/price-changes${query}`, {
        headers: run.gateway.headers,
      });

      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({
        error: "since: must be a time such as 2026-01-31T12:00:00Z",
      });
    },
  );

  const act = (path: string, body: string, contentType = "application/json") =>
    fetch(`${run.gateway.url}/commands/${path}`, {
      method: "POST",
      headers: { ...run.gateway.headers, "content-type": contentType },
      body,
    });

  it("cancels a command and publishes its event at once", async () => {
    const published: string[] = [];
    run.automation.bus.subscribeToOwn(async (event) => {
      published.push(event["detail-type"]);
    });
    run.automation.bus.start();
    const { sender, id, ...rest } = commandOf({ sender: LOCAL_SENDER });
    const command = { ...rest, sender, id, deadline: Date.UTC(2100, 0, 1) };
    await commands.write(run.automation.deps.ledger, `${sender}/${id}`, undefined, command);

    const answer = await act("c1/cancel", "{}");
    await run.automation.bus.delivered();

    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ kind: "stopped", status: "cancelled" });
    expect(published).toEqual(["CommandCancelled"]);
    const stored = await commands.read(run.automation.deps.ledger, `${sender}/${id}`);
    expect(stored?.value).toMatchObject({ outbox: [], state: { settled: true } });
  });

  it("answers an operator's cancellation even if its event cannot be published yet", async () => {
    const { deps } = run.automation;
    const { sender, id, ...rest } = commandOf({ sender: LOCAL_SENDER });
    const command = { ...rest, sender, id, deadline: Date.UTC(2100, 0, 1) };
    await commands.write(deps.ledger, `${sender}/${id}`, undefined, command);
    const bus = { ...deps.bus, publish: () => Promise.reject(new Error("no bus")) };
    const admin = createLocalAdmin({ ...run.automation, deps: { ...deps, bus } });

    const answer = await admin.cancel({ id: "c1" });

    expect(answer).toMatchObject({ kind: "stopped", status: "cancelled" });
    const stored = await commands.read(deps.ledger, `${sender}/${id}`);
    expect(stored?.value).toMatchObject({
      outbox: ["CommandCancelled"],
      state: { settled: false },
    });
  });

  it("answers about a request although another event cannot be delivered", async () => {
    const bus = { ...run.automation.bus, delivered: () => new Promise<void>(() => {}) };
    const admin = createLocalAdmin({ ...run.automation, bus });

    expect(await admin.look({ id: "none" }, "none")).toBeUndefined();
  });

  it("cancels a command of another AWS account, and not its own with the same id", async () => {
    const deadline = Date.UTC(2100, 0, 1);
    for (const sender of [LOCAL_SENDER, "111122223333"]) {
      const command = commandOf({ sender, deadline });
      await commands.write(run.automation.deps.ledger, `${sender}/c1`, undefined, command);
    }

    await act("c1/cancel?sender=111122223333", "{}");

    const statusOf = async (sender: string) =>
      (await commands.read(run.automation.deps.ledger, `${sender}/c1`))?.value.state.status;
    expect(await statusOf("111122223333")).toBe("cancelled");
    expect(await statusOf(LOCAL_SENDER)).toBe("accepted");
  });

  it("lifts the pause of an account, and answers 404 for one without requests", async () => {
    const { ledger, clock } = run.automation.deps;
    await rateLimits.change(ledger, "local", (rateLimit = newRateLimit("local")) =>
      pauseRequests(rateLimit, { now: clock.now(), until: clock.now() + 900_000 }),
    );
    const lift = (account: string) =>
      fetch(`${run.gateway.url}/accounts/${account}/lift-pause`, {
        method: "POST",
        headers: run.gateway.headers,
        body: "{}",
      });

    const answer = await lift("local");

    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ kind: "lifted", commands: 0 });
    expect((await rateLimits.read(ledger, "local"))?.value.blockedUntil).toBe(0);
    expect((await lift("loacl")).status).toBe(404);
  });

  it("answers 404 for an id beyond the length of a ledger key", async () => {
    const answer = await fetch(`${run.gateway.url}/commands/${"x".repeat(3_000)}`, {
      headers: run.gateway.headers,
    });

    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({ error: "no such command" });
  });

  it.each([
    ["a form of a web page that cancels", "c1/cancel", "{}", "text/plain", 415],
    ["a form of a web page that resolves", "c1/resolve", '{"applied":true}', "text/plain", 415],
    ["an empty verdict", "c1/resolve", "{}", "application/json", 400],
    ["a verdict that is not JSON", "c1/resolve", "{", "application/json", 400],
    [
      "a verdict with an unknown field",
      "c1/resolve",
      '{"applied":true,"status":"succeeded"}',
      "application/json",
      400,
    ],
    ["to cancel an unknown command", "c1/cancel", "{}", "application/json", 404],
    ["to resolve an unknown command", "c1/resolve", '{"applied":true}', "application/json", 404],
  ])("refuses %s", async (_what, path, body, contentType, status) => {
    expect((await act(path, body, contentType)).status).toBe(status);
  });

  it.each([
    ["garbage", "garbage", "not readable as JSON"],
    [
      "an object that is no request",
      '{"foo":1}',
      "metadata: required; data: required; foo: unknown field",
    ],
    ["a request without an operation", '{"metadata":{},"data":{}}', "operation: required"],
    [
      "an empty id",
      '{"metadata":{"id":""},"data":{"operation":"x"}}',
      "metadata.id: must not be empty",
    ],
  ])("answers %s with the problem, and queues nothing", async (_what, body, error) => {
    const answer = await post(body);

    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error });
    expect(run.automation.isQueued("")).toBe(false);
  });

  it("stops reading a body of unknown length at the size limit", async () => {
    const endless = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(10_000).fill(32)),
    });
    const { headers } = run.gateway;

    const sent = fetch(`${run.gateway.url}/commands`, {
      method: "POST",
      headers,
      body: endless,
      duplex: "half",
    });

    // Node's client may see the closed connection instead of the response, because it is still sending.
    expect(await sent.then(({ status }) => status).catch(() => 413)).toBe(413);
    expect((await fetch(`${run.gateway.url}/prices`, { headers })).status).toBe(200);
  });

  it("refuses a request with a foreign Host header", async () => {
    const status = await new Promise((resolve, reject) => {
      request(`${run.gateway.url}/commands/c1`, { headers: { host: "evil.example:80" } })
        .on("response", (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });

    expect(status).toBe(403);
  });
});
