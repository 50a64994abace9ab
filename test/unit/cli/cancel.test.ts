import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { cancel } from "../../../lib/cli/commands/cancel.ts";
import type { Clock } from "../../../lib/platform/ports/clock.ts";

let close = (): void => undefined;
afterEach(() => {
  close();
  vi.restoreAllMocks();
});

const UNDER_WAY = { kind: "under-way", waitMs: 35_000 };
const STOPPED = {
  kind: "stopped",
  status: "failed",
  reason: "unknown-outcome",
  endedAt: "2026-01-01T00:00:00.000Z",
};

/** A running Skyhook with these answers in order; it repeats the last one. */
const answering = async (...answers: readonly object[]) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    response.writeHead(202).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () => server.close();
  return { asked, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** A clock that only `sleep` advances. */
const sleepingClock = (): Clock => {
  let now = 0;
  return {
    now: () => now,
    sleep: async (durationMs) => {
      now += durationMs;
    },
  };
};

const printed = () => {
  const lines: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
  }
  return lines;
};

test("a cancellation repeats each second until no request is in flight", async () => {
  const { asked, endpoint } = await answering(UNDER_WAY, UNDER_WAY, STOPPED);
  const clock = sleepingClock();
  printed();

  const exitCode = await cancel("c/1", { endpoint, waitSeconds: "60" }, clock);

  expect(asked).toEqual(Array.from({ length: 3 }, () => "POST /commands/c%2F1/cancel"));
  expect(clock.now()).toBe(2_000);
  expect(exitCode).toBe(1);
});

test("a command that may have taken effect is reported with the next step", async () => {
  const { endpoint } = await answering(STOPPED);
  const lines = printed();

  await cancel("c 1", { endpoint, sender: "111122223333", waitSeconds: "0" }, sleepingClock());

  expect(lines).toEqual([
    [
      "c 1 ended as failed (unknown-outcome): an earlier request may have taken effect",
      `  next: check the effect at the provider, then npx skyhook resolve 'c 1' --applied | --not-applied --endpoint ${endpoint} --sender 111122223333\n`,
    ].join("\n"),
  ]);
});

test("task ids contain no terminal control characters, in text and in JSON", async () => {
  const { endpoint } = await answering({ kind: "following", taskIds: ["t\u009b2J"] });
  const lines = printed();

  await cancel("c1", { endpoint, waitSeconds: "0" }, sleepingClock());
  await cancel("c1", { endpoint, waitSeconds: "0", json: true }, sleepingClock());

  expect(lines).toEqual([
    "c1 cannot be cancelled: the provider works on task t\\u009b2J, which Skyhook follows to its end\n",
    '{"commandId":"c1","kind":"following","taskIds":["t\\u009b2J"]}\n',
  ]);
});

test("a cancellation ends after --wait-seconds, and prints the remaining wait", async () => {
  const { asked, endpoint } = await answering(UNDER_WAY);
  const clock = sleepingClock();
  const lines = printed();

  const exitCode = await cancel("c1", { endpoint, waitSeconds: "5" }, clock);

  expect(exitCode).toBe(4);
  expect(asked).toHaveLength(6);
  expect(lines).toEqual([
    "c1 is not cancelled: a request is in flight; its result is known within 35 s: try again then\n",
  ]);
});

test("a cancellation ends within a second after the reply", async () => {
  const { endpoint } = await answering({ kind: "under-way", waitMs: 300 }, STOPPED);
  const clock = sleepingClock();
  printed();

  await cancel("c1", { endpoint, waitSeconds: "60" }, clock);

  expect(clock.now()).toBe(300);
});
