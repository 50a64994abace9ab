import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { type SendOptions, sendCommand } from "../../../lib/cli/commands/send.ts";
import { updatePolicy } from "../../../lib/contract/lifecycle-policies.ts";
import type { Automation } from "../../../lib/local/automation.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { type LocalConsole, openLocalConsole } from "../../support/local-console.ts";
import { openQuietly } from "../local/open-quietly.ts";

/** Longest wait of `send` for an answer. */
const ANSWER_MS = 2_000;

let automation: Automation;
let gateway: LocalConsole;
let busy: Server | undefined;
let out: string;
let err: string;

beforeEach(async () => {
  automation = await openQuietly();
  gateway = await openLocalConsole(automation);
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  busy?.closeAllConnections();
  busy?.close();
  await gateway.close();
  await automation.stop();
});

/** A clock on which the test ends the wait of two seconds. */
const clockUntil = (isOver: Promise<void>): Clock => {
  const { now, sleep } = createSystemClock();
  const untilAborted = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
  return {
    now,
    sleep: (durationMs, signal) =>
      durationMs === ANSWER_MS
        ? Promise.race([isOver, untilAborted(signal)])
        : sleep(durationMs, signal),
  };
};

const NEVER = new Promise<void>(() => {});

const send = (status: string, options: Partial<SendOptions> = {}) =>
  sendCommand(updatePolicy, {
    run: gateway,
    input: {
      data: JSON.stringify({ params: { project_id: 1234567, region_id: 76, policy_id: 1 } }),
      body: JSON.stringify({ status }),
      flags: new Map(),
    },
    id: "c1",
    waitFor: "answer",
    timeoutSeconds: 60,
    json: false,
    clock: clockUntil(NEVER),
    random: createSystemRandom(),
    ...options,
  });

describe("skyhook send without --wait", () => {
  it("waits until the request is accepted, and prints the id alone on stdout", async () => {
    automation.start();

    const exitCode = await send("paused");

    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: "c1\n",
      err: "accepted; state: npx skyhook status c1\n",
    });
  });

  it("reports a rejected request with status 2 and nothing on stdout", async () => {
    automation.start();
    await send("paused");
    [out, err] = ["", ""];

    const exitCode = await send("active");

    expect({ exitCode, out, err }).toEqual({
      exitCode: 2,
      out: "",
      err: "update-policy rejected (id-reused)\n  metadata.commandId: already used by a command with another payload; send under a new id\n",
    });
  });

  it("prints the rejection on stdout as JSON", async () => {
    automation.start();
    await send("paused", { waitFor: "end" });
    [out, err] = ["", ""];

    const exitCode = await send("active", { json: true });

    expect(exitCode).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ kind: "rejected", reason: "id-reused" });
  });

  it("reports a missing answer with status 0", async () => {
    const over = Promise.resolve();

    const exitCode = await send("paused", { clock: clockUntil(over) });

    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: "c1\n",
      err: "sent, but neither accepted nor rejected within 2 s; state: npx skyhook status c1\n",
    });
  });

  it("does not wait for a Skyhook that accepted the request and stopped answering", async () => {
    let over = (): void => {};
    const isOver = new Promise<void>((resolve) => {
      over = resolve;
    });
    busy = createServer((request, response) => {
      if (request.method === "POST") response.writeHead(202).end("{}");
      else over();
    });
    const { port } = await new Promise<{ port: number }>((resolve) => {
      busy?.listen(0, "127.0.0.1", () =>
        resolve(z.object({ port: z.int() }).parse(busy?.address())),
      );
    });

    const exitCode = await send("paused", {
      run: { endpoint: `http://127.0.0.1:${port}`, token: undefined },
      clock: clockUntil(isOver),
      json: true,
    });

    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ commandId: "c1", answer: "none" });
  });

  it("reads no state with --no-wait", async () => {
    const exitCode = await send("paused", { waitFor: "nothing" });

    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: "c1\n",
      err: "sent; state: npx skyhook status c1\n",
    });
  });
});
