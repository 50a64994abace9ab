import { expect, test } from "vitest";
import { problemsOf } from "./pattern-of.ts";

const OPERATORS =
  "one of prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, cidr, exists";
const VALUE = "a text, a number, true, false, null or an object with one operator";
const EXCLUDED = "one of prefix, suffix, equals-ignore-case, wildcard";
const LIST = "a text, a number, or a list of texts only or of numbers only";
const AFFIX = 'a text, or { "equals-ignore-case": a text }';

test.each([
  [[1, 2], ": an object"],
  ["text", ": an object"],
  [null, ": an object"],
  [undefined, ": plain JSON data"],
  [{ a: [Number.NaN] }, "a.0: plain JSON data"],
  [{ a: { b: new Map() } }, "a.b: plain JSON data"],
  [{ a: ["x", undefined] }, "a.1: plain JSON data"],
  [{}, ": at least one field"],
  [{ a: {} }, "a: at least one field"],
  [{ a: [] }, "a: at least one value"],
  [{ a: 1 }, "a: a list of values, or an object of fields"],
  [{ a: "x" }, "a: a list of values, or an object of fields"],
  [{ a: null }, "a: a list of values, or an object of fields"],
  [{ a: { b: true } }, "a.b: a list of values, or an object of fields"],
  [{ a: ["x", ["y"]] }, `a.1: ${VALUE}`],
  [{ a: [{}] }, "a.0: exactly one operator"],
  [{ a: [{ prefix: "x", suffix: "y" }] }, "a.0: exactly one operator"],
  [{ a: [{ prefix: "x", foo: [] }] }, "a.0: exactly one operator"],
  [{ a: [{ x: 2 }] }, `a.0.x: ${OPERATORS}`],
  [{ a: [{ exactly: "x" }] }, `a.0.exactly: ${OPERATORS}`],
  [{ a: [{ constructor: "x" }] }, `a.0.constructor: ${OPERATORS}`],
  [JSON.parse('{ "a": [{ "__proto__": "x" }] }'), `a.0.__proto__: ${OPERATORS}`],
  [{ a: [{ prefix: 3 }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: ["x"] }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: {} }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ prefix: { wildcard: "x" } }] }, `a.0.prefix: ${AFFIX}`],
  [{ a: [{ suffix: { "equals-ignore-case": 5 } }] }, "a.0.suffix.equals-ignore-case: a text"],
  [{ a: [{ suffix: { "equals-ignore-case": ["x"] } }] }, "a.0.suffix.equals-ignore-case: a text"],
  [{ a: [{ suffix: { "equals-ignore-case": "x", y: 1 } }] }, `a.0.suffix: ${AFFIX}`],
  [{ a: [{ "equals-ignore-case": ["abc"] }] }, "a.0.equals-ignore-case: a text"],
  [{ a: [{ "equals-ignore-case": 5 }] }, "a.0.equals-ignore-case: a text"],
  [{ a: [{ exists: "true" }] }, "a.0.exists: true or false"],
  [{ a: [{ exists: null }] }, "a.0.exists: true or false"],
  [{ a: [{ "anything-but": [] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": null }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": true }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": ["x", 1] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": [null] }] }, `a.0.anything-but: ${LIST}`],
  [{ a: [{ "anything-but": [["x"]] }] }, `a.0.anything-but: ${LIST}`],
  [
    { a: [{ "anything-but": 5000000001 }] },
    "a.0.anything-but: numbers from -5000000000 to 5000000000",
  ],
  [{ a: [{ "anything-but": {} }] }, "a.0.anything-but: exactly one operator"],
  [{ a: [{ "anything-but": { prefix: "x", a: 1 } }] }, "a.0.anything-but: exactly one operator"],
  [{ a: [{ "anything-but": { numeric: ["=", 1] } }] }, `a.0.anything-but.numeric: ${EXCLUDED}`],
  [{ a: [{ "anything-but": { prefix: 27 } }] }, "a.0.anything-but.prefix: a text"],
  [{ a: [{ "anything-but": { prefix: "" } }] }, "a.0.anything-but.prefix: must not be empty"],
  [
    { a: [{ "anything-but": { suffix: ["1", ""] } }] },
    "a.0.anything-but.suffix.1: must not be empty",
  ],
  [{ a: [{ "anything-but": { suffix: [] } }] }, "a.0.anything-but.suffix: at least one text"],
  [
    { a: [{ "anything-but": { prefix: { "equals-ignore-case": "x" } } }] },
    "a.0.anything-but.prefix: a text",
  ],
  [
    { a: [{ "anything-but": { "equals-ignore-case": ["x", 1] } }] },
    "a.0.anything-but.equals-ignore-case.1: a text",
  ],
  [
    { a: [{ "anything-but": { wildcard: ["x", "a**b"] } }] },
    "a.0.anything-but.wildcard.1: no * next to another",
  ],
])("%j is refused with its place", (pattern, problem) => {
  expect(problemsOf(pattern)).toEqual([problem]);
});

test("every problem is reported at once", () => {
  const pattern = { source: "skyhook", detail: { a: [], b: [1, { prefix: 2 }, { like: "x" }] } };

  expect(problemsOf(pattern)).toEqual([
    "source: a list of values, or an object of fields",
    "detail.a: at least one value",
    `detail.b.1.prefix: ${AFFIX}`,
    `detail.b.2.like: ${OPERATORS}`,
  ]);
});

test("4096 characters are taken", () => {
  expect(problemsOf({ a: ["x".repeat(4096 - '{"a":[""]}'.length)] })).toEqual([]);
});

test("4097 characters are refused", () => {
  expect(problemsOf({ a: ["x".repeat(4097 - '{"a":[""]}'.length)] })).toEqual([
    ": at most 4096 characters",
  ]);
});

test("a number that JSON has no exact form for is refused", () => {
  expect(problemsOf({ a: [1n] })).toEqual(["a.0: plain JSON data"]);
});
