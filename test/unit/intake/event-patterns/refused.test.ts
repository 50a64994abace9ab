import { expect, test } from "vitest";
import { problemsOf } from "./pattern-of.ts";

const OPERATORS =
  "unknown operator, must be one of prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, cidr, exists";
const VALUE = "must be a string, a number, true, false, null or an object with one operator";
const EXCLUDED = "unknown operator, must be one of prefix, suffix, equals-ignore-case, wildcard";
const LIST = "must be a string, a number, a list of strings, or a list of numbers";
const AFFIX = 'must be a string, or { "equals-ignore-case": a string }';

test.each([
  [[1, 2], ": must be an object"],
  ["text", ": must be an object"],
  [null, ": must be an object"],
  [undefined, ": must be plain JSON"],
  [{ a: [Number.NaN] }, "a.0: must be plain JSON"],
  [{ a: { b: new Map() } }, "a.b: must be plain JSON"],
  [{ a: ["x", undefined] }, "a.1: must be plain JSON"],
  [{}, ": must have at least one field"],
  [{ a: {} }, "a: must have at least one field"],
  [{ a: [] }, "a: must have at least one value"],
  [{ a: 1 }, "a: must be a list of values, or an object of fields"],
  [{ a: "x" }, "a: must be a list of values, or an object of fields"],
  [{ a: null }, "a: must be a list of values, or an object of fields"],
  [{ a: { b: true } }, "a.b: must be a list of values, or an object of fields"],
  [{ a: ["x", ["y"]] }, `a.1: ${VALUE}`],
  [{ a: [{}] }, "a.0: must have exactly one operator"],
  [{ a: [{ prefix: "x", suffix: "y" }] }, "a.0: must have exactly one operator"],
  [{ a: [{ prefix: "x", foo: [] }] }, "a.0: must have exactly one operator"],
  [{ a: [{ x: 2 }] }, `a.0.x: ${OPERATORS}`],
  [{ a: [{ exactly: "x" }] }, `a.0.exactly: ${OPERATORS}`],
  [{ a: [{ constructor: "x" }] }, `a.0.constructor: ${OPERATORS}`],
  [JSON.parse('{ "a": [{ "__proto__": "x" }] }'), `a.0.__proto__: ${OPERATORS}`],
  [{ a: [{ prefix: 3 }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: ["x"] }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: {} }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: { wildcard: "x" } }] }, `a.0.prefix: ${AFFIX}`],
  [
    { a: [{ suffix: { "equals-ignore-case": 5 } }] },
    "a.0.suffix.equals-ignore-case: must be a string",
  ],
  [
    { a: [{ suffix: { "equals-ignore-case": ["x"] } }] },
    "a.0.suffix.equals-ignore-case: must be a string",
  ],
  [{ a: [{ suffix: { "equals-ignore-case": "x", y: 1 } }] }, `a.0.suffix: ${AFFIX}`],
  [{ a: [{ "equals-ignore-case": ["abc"] }] }, "a.0.equals-ignore-case: must be a string"],
  [{ a: [{ "equals-ignore-case": 5 }] }, "a.0.equals-ignore-case: must be a string"],
  [{ a: [{ exists: "true" }] }, "a.0.exists: must be true or false"],
  [{ a: [{ exists: null }] }, "a.0.exists: must be true or false"],
  [{ a: [{ "anything-but": [] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": null }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": true }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": ["x", 1] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": [null] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": [["x"]] }] }, `a.0.anything-but: ${LIST}`],
  [
    { a: [{ "anything-but": 5000000001 }] },
    "a.0.anything-but: numbers must be from -5000000000 to 5000000000",
  ],
  [{ a: [{ "anything-but": {} }] }, "a.0.anything-but: must have exactly one operator"],
  [
    { a: [{ "anything-but": { prefix: "x", a: 1 } }] },
    "a.0.anything-but: must have exactly one operator",
  ],
  [{ a: [{ "anything-but": { numeric: ["=", 1] } }] }, `a.0.anything-but.numeric: ${EXCLUDED}`],
  [{ a: [{ "anything-but": { prefix: 27 } }] }, "a.0.anything-but.prefix: must be a string"],
  [{ a: [{ "anything-but": { prefix: "" } }] }, "a.0.anything-but.prefix: must not be empty"],
  [
    { a: [{ "anything-but": { suffix: ["1", ""] } }] },
    "a.0.anything-but.suffix.1: must not be empty",
  ],
  [
    { a: [{ "anything-but": { suffix: [] } }] },
    "a.0.anything-but.suffix: must have at least one string",
  ],
  [
    { a: [{ "anything-but": { prefix: { "equals-ignore-case": "x" } } }] },
    "a.0.anything-but.prefix: must be a string",
  ],
  [
    { a: [{ "anything-but": { "equals-ignore-case": ["x", 1] } }] },
    "a.0.anything-but.equals-ignore-case.1: must be a string",
  ],
  [
    { a: [{ "anything-but": { wildcard: ["x", "a**b"] } }] },
    "a.0.anything-but.wildcard.1: must not have two * in a row",
  ],
])("%j is refused with the path", (pattern, problem) => {
  expect(problemsOf(pattern)).toEqual([problem]);
});

test("every problem is reported", () => {
  const pattern = { source: "skyhook", detail: { a: [], b: [1, { prefix: 2 }, { like: "x" }] } };

  expect(problemsOf(pattern)).toEqual([
    "source: must be a list of values, or an object of fields",
    "detail.a: must have at least one value",
    `detail.b.1.prefix: ${AFFIX}`,
    `detail.b.2.like: ${OPERATORS}`,
  ]);
});

test("4096 characters are accepted", () => {
  expect(problemsOf({ a: ["x".repeat(4096 - '{"a":[""]}'.length)] })).toEqual([]);
});

test("4097 characters are refused", () => {
  expect(problemsOf({ a: ["x".repeat(4097 - '{"a":[""]}'.length)] })).toEqual([
    ": at most 4096 characters",
  ]);
});

test("a number without an exact form in JSON is refused", () => {
  expect(problemsOf({ a: [1n] })).toEqual(["a.0: must be plain JSON"]);
});
