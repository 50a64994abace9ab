import { expect, test } from "vitest";
import { isMatch, problemsOf } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";
const numeric = (...operand: readonly unknown[]): object => ({ a: [{ numeric: operand }] });

test.each([
  [GUIDE, numeric("=", 3.018e2), { a: 301.8 }, true],
  [GUIDE, numeric("=", 100), { a: 100.1 }, false],
  [GUIDE, numeric(">", 10, "<=", 20), { a: 20 }, true],
  [GUIDE, numeric(">", 10, "<=", 20), { a: 10 }, false],
  [GUIDE, numeric(">", 10, "<=", 20), { a: 20.000001 }, false],
  [GUIDE, numeric("<", 10), { a: 9 }, true],
  [GUIDE, numeric("<", 10), { a: 10 }, false],
  [RULER, numeric("<=", 10), { a: 10 }, true],
  [RULER, numeric(">", 0), { a: 0 }, false],
  [RULER, numeric(">", 0), { a: 0.000001 }, true],
  [RULER, numeric(">=", -1, "<", 1), { a: -1 }, true],
  [RULER, numeric(">=", -1, "<", 1), { a: 1 }, false],
  [RULER, numeric("=", 5), { a: "5" }, false],
  [RULER, numeric(">", -1), { a: null }, false],
  [RULER, numeric(">", -1), { a: true }, false],
  [RULER, numeric(">", -1), {}, false],
  [RULER, numeric("=", 5e9), { a: 5e9 }, true],
  [RULER, numeric("=", -5e9), { a: -5e9 }, true],
  [RULER, numeric("=", 4999999999.999999), { a: 4999999999.999999 }, true],
  [RULER, numeric("=", 0.1), { a: [7, 0.1] }, true],
])("numeric, by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

const SHAPE =
  'a.0.numeric: must be one comparison such as ["=", 5], or a lower and an upper bound such as [">", 0, "<=", 5]';
const RANGE = "a.0.numeric: numbers must be from -5000000000 to 5000000000";
const ORDER = "a.0.numeric: must have a lower bound below the upper bound";

test.each<[readonly unknown[], string]>([
  [[], SHAPE],
  [["="], SHAPE],
  [["=", true], SHAPE],
  [["=", "5"], SHAPE],
  [["<>", 1], SHAPE],
  [["==", 1], SHAPE],
  [[5], SHAPE],
  [[5, "="], SHAPE],
  [["=", 1, "=", 1], SHAPE],
  [["<", 1, ">", 0], SHAPE],
  [[">", 0, ">", 1], SHAPE],
  [[">", 0, "<"], SHAPE],
  [[">", 0, 1], SHAPE],
  [[">", 1, "<", 30, false], SHAPE],
  [["constructor", 1], SHAPE],
  [["=", 2.0e22], RANGE],
  [["<", -5000000001], RANGE],
  [[">", 0, "<", 5000000001], RANGE],
  [[">", 30, "<", 1], ORDER],
  [[">=", 1, "<=", 1], ORDER],
])("numeric %j is refused, as by Ruler", (operand, problem) => {
  expect(problemsOf(numeric(...operand))).toEqual([problem]);
});
