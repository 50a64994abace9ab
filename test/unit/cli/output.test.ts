import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { afterEach, describe, expect, test, vi } from "vitest";
import { wrapText } from "../../../lib/cli/layout.ts";
import { terminalLog } from "../../../lib/cli/render.ts";

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

test("a terminal shows warnings and errors with their fields and the command id", () => {
  const lines = printed();
  const log = terminalLog.with({ commandId: "c1", correlationId: "trace" });

  log.info("command ended", { outcome: "succeeded" });
  log.warn("event not published", { detailType: "CommandSucceeded", errorCode: undefined });

  expect(lines).toEqual([
    "warning: event not published commandId=c1 detailType=CommandSucceeded\n",
  ]);
});

test("the command id applies to the lines of its own context only", () => {
  const lines = printed();
  const log = terminalLog.with({ commandId: "c1" }).with({ taskId: "t1" });

  log.error("message not handled; the queue delivers it again");
  log.with({ commandId: "c2" }).error("message not handled; the queue delivers it again");
  terminalLog.error("invocation failed");

  expect(lines).toEqual([
    "error: message not handled; the queue delivers it again commandId=c1\n",
    "error: message not handled; the queue delivers it again commandId=c2\n",
    "error: invocation failed\n",
  ]);
});

test("untrusted text neither begins a line nor controls the terminal", () => {
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

describe("a text for a terminal of 80 columns", () => {
  const wrapped = (text: string): readonly string[] => wrapText(text, 80).split("\n");

  test("breaks between words, under the column of its last field", () => {
    const line = `  body.scale           required  ${"a rule with words ".repeat(6).trim()}`;

    const lines = wrapped(line);

    expect(lines.join(" ").replaceAll(/\s+/g, " ")).toBe(line.replaceAll(/\s+/g, " "));
    expect(lines.every((each) => each.length <= 80)).toBe(true);
    expect(lines.slice(1).map((each) => each.search(/\S/))).toEqual(
      Array(lines.length - 1).fill(line.indexOf("a rule")),
    );
  });

  test("counts columns and not characters, and keeps colours", () => {
    const line = `\u001b[31m${"漢字 ".repeat(20).trim()}\u001b[39m`;

    const lines = wrapped(line);

    expect(lines).toHaveLength(2);
    expect(lines.every((each) => stringWidth(each) <= 80)).toBe(true);
    expect(lines.map(stripVTControlCharacters).join(" ").split(/\s+/)).toHaveLength(20);
  });

  test.each([
    ["JSON", `{"a":"${"b ".repeat(60)}"}`],
    ["a YAML file", `# ${"b ".repeat(60)}\n\nprune: false`],
    ["a setting to copy", `  export SKYHOOK_API_KEY='${"x".repeat(90)}'`],
    ["a word that is longer", "x".repeat(100)],
  ])("leaves %s unchanged", (_what, text) => {
    expect(wrapText(text, 80)).toBe(text);
  });

  test("keeps a command to copy one command, with quoted words whole", () => {
    const guards = `'[{"key":"paid by", "equals":"it'\\''s me"}]'`;
    const line = `  npx skyhook send update-policy --project-id 1234567 --region-id 76 --guards ${guards} --wait`;

    expect(wrapped(line)).toEqual([
      "  npx skyhook send update-policy --project-id 1234567 --region-id 76 --guards \\",
      `      ${guards} --wait`,
    ]);
  });

  test("keeps the indent of a coloured command", () => {
    const line = `  npx skyhook send update-policy ${"--a-flag its-value ".repeat(4).trim()}`;

    const lines = wrapped(`\u001b[36m${line}\u001b[39m`).map(stripVTControlCharacters);

    expect(lines.map((each) => each.search(/\S/))).toEqual([2, 6]);
  });

  test("leaves a long word whole, in a line of its own", () => {
    const id = "x".repeat(100);

    expect(wrapped(`  ${id} succeeded`)).toEqual([`  ${id}`, "    succeeded"]);
    expect(wrapped(`  command ${id}`)).toEqual(["  command", `    ${id}`]);
  });

  test("is not wrapped without a terminal", () => {
    const line = "a word ".repeat(30);

    expect(wrapText(line, undefined)).toBe(line);
  });
});
