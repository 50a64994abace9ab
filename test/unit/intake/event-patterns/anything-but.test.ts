import { expect, test } from "vitest";
import { isMatch } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";
const anythingBut = (operand: unknown): object => ({ a: [{ "anything-but": operand }] });

test.each([
  [GUIDE, anythingBut("initializing"), { a: "running" }, true],
  [GUIDE, anythingBut("initializing"), { a: "initializing" }, false],
  [GUIDE, anythingBut(123), { a: 124 }, true],
  [GUIDE, anythingBut(123), { a: 123 }, false],
  [GUIDE, anythingBut(["stopped", "overloaded"]), { a: "running" }, true],
  [GUIDE, anythingBut(["stopped", "overloaded"]), { a: "overloaded" }, false],
  [GUIDE, anythingBut([100, 200, 300]), { a: 250 }, true],
  [GUIDE, anythingBut([100, 200, 300]), { a: 300 }, false],
  [RULER, anythingBut("x"), {}, false],
  [RULER, anythingBut("x"), { a: {} }, false],
  [RULER, anythingBut("x"), { a: [] }, false],
  [RULER, anythingBut("x"), { a: { b: "y" } }, false],
  [RULER, anythingBut("5"), { a: 5 }, true],
  [RULER, anythingBut(5), { a: "5" }, true],
  [RULER, anythingBut("x"), { a: null }, true],
  [RULER, anythingBut(5), { a: false }, true],
  [RULER, anythingBut(""), { a: "" }, false],
  [RULER, anythingBut(["banned"]), { a: ["banned", "ok"] }, true],
  [RULER, anythingBut(["banned"]), { a: ["banned", "banned"] }, false],
])("anything-but, by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test.each([
  [GUIDE, anythingBut({ prefix: "us-" }), { a: "eu-west-1" }, true],
  [GUIDE, anythingBut({ prefix: "us-" }), { a: "us-east-1" }, false],
  [GUIDE, anythingBut({ prefix: ["init", "error"] }), { a: "running" }, true],
  [GUIDE, anythingBut({ prefix: ["init", "error"] }), { a: "errors" }, false],
  [GUIDE, anythingBut({ suffix: ".png" }), { a: "a.txt" }, true],
  [GUIDE, anythingBut({ suffix: ".png" }), { a: "a.png" }, false],
  [GUIDE, anythingBut({ suffix: [".txt", ".csv"] }), { a: "a.csv" }, false],
  [GUIDE, anythingBut({ suffix: [".txt", ".csv"] }), { a: "a.png" }, true],
  [GUIDE, anythingBut({ "equals-ignore-case": "initializing" }), { a: "INITIALIZING" }, false],
  [GUIDE, anythingBut({ "equals-ignore-case": "initializing" }), { a: "running" }, true],
  [GUIDE, anythingBut({ "equals-ignore-case": ["init", "stop"] }), { a: "Stop" }, false],
  [GUIDE, anythingBut({ "equals-ignore-case": ["init", "stop"] }), { a: "stopped" }, true],
  [GUIDE, anythingBut({ wildcard: "*/lib/*" }), { a: "/usr/lib/x" }, false],
  [GUIDE, anythingBut({ wildcard: "*/lib/*" }), { a: "/usr/bin/x" }, true],
  [GUIDE, anythingBut({ wildcard: ["*/lib/*", "*/bin/*"] }), { a: "/usr/bin/x" }, false],
  [GUIDE, anythingBut({ wildcard: ["*/lib/*", "*/bin/*"] }), { a: "/usr/share/x" }, true],
  [RULER, anythingBut({ wildcard: "" }), { a: "" }, false],
  [RULER, anythingBut({ "equals-ignore-case": ["abc", ""] }), { a: "" }, false],
  [RULER, anythingBut({ prefix: "1" }), { a: 12 }, true],
  [RULER, anythingBut({ prefix: "x" }), {}, false],
])(
  "anything-but with an operator, by the %s, %j on %j: %j",
  (_source, pattern, event, expected) => {
    expect(isMatch(pattern, event)).toBe(expected);
  },
);
