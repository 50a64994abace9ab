import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as letIoHappen } from "node:timers/promises";
import { vi } from "vitest";

/** Behaviours of the server. The connection stays open in each of them. */
type Silence = (response: ServerResponse) => void;

/** Reads the request and never answers. */
export const noAnswer: Silence = () => {};

/** Sends the status and one byte of the body, then nothing more. */
export const halfABody: Silence = (response) => {
  response.writeHead(200, { "content-type": "application/x-amz-json-1.0", "content-length": 100 });
  response.write("{");
};

/** Sends one byte per second without end, so that no pause is long. */
export const endlessBody: Silence = (response) => {
  halfABody(response);
  const more = setInterval(() => response.write(" "), 1_000);
  response.on("close", () => clearInterval(more));
};

const STEP_MS = 25;
/** Longer than the time limit of any call. */
const MAX_STEPS = 60_000 / STEP_MS;

/**
 * A server that accepts connections and requests, and does not answer. Uses vitest's fake timers, which advance while
 * a call waits, so that the speed of the machine has no effect.
 */
export const openBlackHole = async (silence: Silence) => {
  let requests = 0;
  let noteClosed = () => {};
  const closed = new Promise<void>((resolve) => {
    noteClosed = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      requests += 1;
      silence(response);
      response.on("close", noteClosed);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // For a port, `address()` returns an object. A string would be the name of a pipe.
  const { port } = server.address() as AddressInfo;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const endpoint = `http://127.0.0.1:${port}`;
  vi.stubEnv("AWS_ENDPOINT_URL", endpoint);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
  return {
    endpoint,
    requests: () => requests,
    /** Advances time until the call ends. */
    async outcomeOf(call: Promise<unknown>): Promise<{ error?: unknown; durationMs: number }> {
      let outcome: { error?: unknown } | undefined;
      void call.then(
        () => {
          outcome = {};
        },
        (error: unknown) => {
          outcome = { error };
        },
      );
      for (let step = 0; step < MAX_STEPS; step += 1) {
        await letIoHappen();
        if (outcome) return { ...outcome, durationMs: step * STEP_MS };
        await vi.advanceTimersByTimeAsync(STEP_MS);
      }
      throw new Error("the call does not end");
    },
    useRealTime: () => void vi.useRealTimers(),
    /** Resolves when the caller has closed a connection. */
    closedConnection: () => closed,
    async close(): Promise<void> {
      vi.useRealTimers();
      vi.unstubAllEnvs();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
