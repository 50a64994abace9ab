import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isMatch, problemsOf } from "./pattern-of.ts";

const wildcard = (operand: unknown): object => ({ a: [{ wildcard: operand }] });

test.each([
  ["dir/*.png", "dir/a.png", true],
  ["dir/*.png", "dir/.png", true],
  ["dir/*.png", "dir/sub/a.png", true],
  ["dir/*.png", "dir/a.png.gz", false],
  ["dir/*.png", "a/dir/a.png", false],
  ["Simple*Service", "SimpleQueueService", true],
  ["Simple*Service", "SimpleService", true],
  ["Simple*Service", "SimpleServic", false],
  ["*", "", true],
  ["*", "anything\n", true],
  ["", "", true],
  ["", "x", false],
  ["abc", "abc", true],
  ["abc", "abcd", false],
  ["*a*", "bab", true],
  ["*a*", "bbb", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["ab*bc", "abc", false],
  ["ab*b*bc", "abbc", false],
  ["ab*b*bc", "abbbc", true],
  ["*aab", "aaab", true],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-c-b", false],
  ["a\\*b", "a*b", true],
  ["a\\*b", "axb", false],
  ["a\\\\*", "a\\b", true],
  ["a\\\\\\*", "a\\*", true],
  ["a\\\\\\*", "a\\b", false],
  ["*\\**", "x*y", true],
  ["*\\**", "xy", false],
  ["\\**", "*x", true],
  ["a.c", "abc", false],
  ["[a-z]?", "[a-z]?", true],
])("%s and %s: %j", (operand, text, expected) => {
  expect(isMatch(wildcard(operand), { a: text })).toBe(expected);
});

test("only strings match", () => {
  expect(isMatch(wildcard("*"), { a: 5, b: null })).toBe(false);
});

test.each([
  ["a**b", "must not have two * in a row"],
  ["**", "must not have two * in a row"],
  ["a\\b", "must not have a backslash except before * or another backslash"],
  ["a\\", "must not have a backslash except before * or another backslash"],
  [5, "must be a string"],
  [["abc"], "must be a string"],
  [{ "equals-ignore-case": "a*" }, "must be a string"],
])("%j is refused, as by Ruler", (operand, rule) => {
  expect(problemsOf(wildcard(operand))).toEqual([`a.0.wildcard: ${rule}`]);
});

test("a wildcard matches like its regular expression", () => {
  const few = fc.string({ unit: fc.constantFrom("a", "b", "*", "\\"), maxLength: 8 });
  const source = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  void fc.assert(
    fc.property(source, few, (text, value) => {
      const operand = text.replaceAll(/\*+/g, "*");
      const expression = new RegExp(`^${operand.replaceAll("*", "[^]*")}$`);

      expect(isMatch(wildcard(operand), { a: value })).toBe(expression.test(value));
    }),
    { numRuns: 2000 },
  );
});

test("a string with escaped special characters matches only itself", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "*", "\\", "é"), maxLength: 6 });
  void fc.assert(
    fc.property(text, text, (wanted, value) => {
      const operand = wanted.replaceAll(/[\\*]/g, "\\$&");

      expect(isMatch(wildcard(operand), { a: value })).toBe(wanted === value);
    }),
    { numRuns: 1000 },
  );
});
