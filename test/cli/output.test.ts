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

test("a terminal shows what needs attention, with the line's own fields and its command's id", () => {
  const lines = printed();
  const log = terminalLog.with({ commandId: "c1", correlationId: "trace" });

  log.info("command ended", { outcome: "succeeded" });
  log.warn("event not published", { detailType: "CommandSucceeded", errorCode: undefined });

  expect(lines).toEqual([
    "warning: event not published commandId=c1 detailType=CommandSucceeded\n",
  ]);
});

test("a command's id stays with the lines of a part of its work, and with no others", () => {
  const lines = printed();
  const log = terminalLog.with({ commandId: "c1" }).with({ taskId: "t1" });

  log.error("message not handled, it comes again");
  log.with({ commandId: "c2" }).error("message not handled, it comes again");
  terminalLog.error("invocation failed");

  expect(lines).toEqual([
    "error: message not handled, it comes again commandId=c1\n",
    "error: message not handled, it comes again commandId=c2\n",
    "error: invocation failed\n",
  ]);
});

test("a text of somebody else's neither begins a line nor steers the terminal", () => {
  const lines = printed();

  terminalLog.with({ commandId: "c\n1" }).warn("late", {
    errorMessage: "away\u001b[2J\nerror: not ours",
    problems: ["one\ttwo"],
  });

  expect(lines).toEqual([
    "warning: late commandId=c\\u000a1 errorMessage=away\\u001b[2J\\u000aerror: not ours problems=one\\u0009two\n",
  ]);
});

test("a terminal shows no stack", () => {
  const lines = printed();

  terminalLog.error("invocation failed", { errorMessage: "away", stack: "Error: away\n    at x" });

  expect(lines).toEqual(["error: invocation failed errorMessage=away\n"]);
});
