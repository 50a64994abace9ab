import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { showStatus } from "../../../lib/cli/commands/status.ts";
import { createSystemClock } from "../../../lib/platform/system.ts";

const STATE = {
  kind: "command",
  commandId: "c1",
  operation: "update-container",
  status: "waiting",
  lane: "l",
  attempts: 0,
  taskIds: [],
  acceptedAt: "2026-01-31T12:00:00.000Z",
  deadline: "2026-01-31T14:00:00.000Z",
  after: ["\u009b2J"],
};

afterEach(() => {
  vi.restoreAllMocks();
});

test("JSON escapes control characters without changing the content", async () => {
  const server = createServer((_, response) => response.end(JSON.stringify(STATE)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);

  await showStatus("c1", { endpoint, json: true }, createSystemClock());

  const text = String(write.mock.calls[0]?.[0]);
  server.close();
  expect(text).toContain('"after":["\\u009b2J"]');
  expect(JSON.parse(text)).toEqual(STATE);
});
