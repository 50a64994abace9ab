import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sendCommand } from "../../../lib/cli/commands/send.ts";
import { COMMANDED } from "../../../lib/contract/operations.ts";

const written: string[] = [];
const posted: unknown[] = [];
let close = (): void => undefined;

/** A Skyhook that accepts the command, and answers each status request with the next of these. */
const skyhookAnswering = async (...answers: readonly (readonly [number, object])[]) => {
  const left = [...answers];
  const server = createServer((request, response) => {
    const [status, body] = request.method === "POST" ? [202, {}] : (left.shift() ?? [500, {}]);
    request.setEncoding("utf8").on("data", (text) => posted.push(JSON.parse(text)));
    response.writeHead(status).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () => server.close();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const accepted = {
  kind: "command",
  commandId: "c1",
  operation: "follow-task",
  lane: "local/task/t",
  status: "following",
  attempts: 0,
  taskIds: ["t"],
  acceptedAt: "2026-01-31T12:00:00Z",
  deadline: "2026-01-31T14:00:00Z",
};

const operation = COMMANDED.find(({ id }) => id === "follow-task");
if (!operation) throw new Error("there is no follow-task");

const sendAndWait = (endpoint: string, deadline?: string) =>
  sendCommand(operation, {
    run: { endpoint, token: undefined },
    input: { data: '{"params":{"task_id":"t"}}', flags: new Map() },
    id: "c1",
    deadline,
    waitFor: "end",
    timeoutSeconds: 60,
    json: true,
    clock: { now: () => 0, sleep: async () => {} },
    random: { uuid: () => "event-1", fraction: () => 0 },
  });

beforeEach(() => {
  written.length = 0;
  posted.length = 0;
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  vi.spyOn(process.stdout, "write").mockImplementation(() => true);
  process.stderr.isTTY = true;
});

afterEach(() => {
  close();
  vi.restoreAllMocks();
  process.stderr.isTTY = false;
});

test("the id is printed before any wait, so that Ctrl-C cannot lose it", async () => {
  const endpoint = await skyhookAnswering([200, { ...accepted, endedAt: "2026-01-31T12:00:01Z" }]);

  await sendAndWait(endpoint);

  expect(written[0]).toBe("sent as c1; waiting for its end (Ctrl-C ends only the wait)\n");
});

test("the progress line is cleared before an error is printed", async () => {
  const endpoint = await skyhookAnswering([200, accepted], [500, { error: "fault of Skyhook" }]);

  await expect(sendAndWait(endpoint)).rejects.toThrow("fault of Skyhook");

  expect(written.at(-2)).toContain("following 0 s");
  expect(written.at(-1)).toBe("\r\x1b[K");
});

test.each([
  ["30m", "1970-01-01T00:30:00.000Z"],
  ["7d", "1970-01-08T00:00:00.000Z"],
  ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
])("a deadline may be %s", async (deadline, sent) => {
  const endpoint = await skyhookAnswering([200, { ...accepted, endedAt: "2026-01-31T12:00:01Z" }]);

  await sendAndWait(endpoint, deadline);

  expect(posted).toMatchObject([{ data: { deadline: sent } }]);
});

test("a deadline that is neither a time span nor a time is not sent", async () => {
  const endpoint = await skyhookAnswering();

  await expect(sendAndWait(endpoint, "30 minutes")).rejects.toMatchObject({
    exitCode: 2,
    message:
      "--deadline: must be a time span such as 30m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z",
  });
  expect(posted).toEqual([]);
});
