import { afterEach, expect, test, vi } from "vitest";
import { terminalLog } from "../../lib/cli/output.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const printed = (): readonly string[] => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
  return lines;
};

test("a terminal shows what needs attention, with the fields that the line itself has", () => {
  const lines = printed();
  const log = terminalLog.with({ commandId: "c1", correlationId: "trace" });

  log.info("command ended", { outcome: "succeeded" });
  log.warn("event not published", { detailType: "CommandSucceeded", errorCode: undefined });

  expect(lines).toEqual(["warning: event not published detailType=CommandSucceeded\n"]);
});

test("a terminal shows no stack", () => {
  const lines = printed();

  terminalLog.error("invocation failed", { errorMessage: "away", stack: "Error: away\n    at x" });

  expect(lines).toEqual(["error: invocation failed errorMessage=away\n"]);
});
