import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readPattern } from "../../../../lib/intake/event-patterns/pattern.ts";
import type { JsonObject } from "../../../../lib/platform/ports/ledger.ts";
import { isMatch, problemsOf } from "./pattern-of.ts";

const eventOf = (text: string): JsonObject => JSON.parse(text);

test("lists nested a hundred thousand levels deep are searched", () => {
  const depth = 100_000;
  const event = eventOf(`{"a":${"[".repeat(depth)}{"b":"x"}${"]".repeat(depth)}}`);

  expect(isMatch({ a: { b: ["x"], c: [{ exists: false }] } }, event)).toBe(true);
});

test("objects nested a hundred thousand levels deep are read only as far as the pattern goes", () => {
  const depth = 100_000;
  const event = eventOf(`${'{"a":'.repeat(depth)}"x"${"}".repeat(depth)}`);

  expect(isMatch({ a: { a: [{ exists: false }], b: [{ exists: false }] } }, event)).toBe(true);
});

test("a pattern with two hundred levels matches its event", () => {
  const event = eventOf(`${'{"a":'.repeat(200)}"x"${"}".repeat(200)}`);
  const pattern = eventOf(`${'{"a":'.repeat(200)}["x"]${"}".repeat(200)}`);

  expect(isMatch(pattern, event)).toBe(true);
  expect(isMatch({ [Array.from({ length: 200 }, () => "a").join(".")]: ["x"] }, event)).toBe(true);
});

test("a pattern with more than two hundred levels is refused, nested or dotted", () => {
  const nested = eventOf(`${'{"a":'.repeat(680)}["x"]${"}".repeat(680)}`);
  const dotted = { [Array.from({ length: 2040 }, () => "a").join(".")]: ["x"] };

  const rule = "must have at most 200 levels of fields";
  expect(problemsOf(nested)).toEqual([expect.stringMatching(`^(a\\.){200}a: ${rule}$`)]);
  expect(problemsOf(dotted)).toEqual([expect.stringContaining(rule)]);
});

test("a pattern that contains itself is refused", () => {
  const pattern: { [name: string]: unknown } = { a: ["x"] };
  pattern.b = pattern;

  expect(problemsOf(pattern)).toEqual([": at most 4096 characters"]);
});

test("many asterisks on a long string that nearly matches are fast", () => {
  const operand = `${"*a".repeat(2000)}*b`;

  expect(isMatch({ a: [{ wildcard: operand }] }, { a: "a".repeat(250_000) })).toBe(false);
});

test("long pieces between asterisks on a long string that nearly matches are fast", () => {
  const operand = `*${"a".repeat(1900)}b*${"a".repeat(1900)}c*`;

  expect(isMatch({ a: [{ wildcard: operand }] }, { a: "a".repeat(250_000) })).toBe(false);
});

test("nested and adjacent lists that nearly match are fast", () => {
  const fields = Array.from({ length: 30 }, (_, index) => `f${index}`);
  const list = Array.from({ length: 300 }, () => ({ x: 1, y: [{ z: 1 }, { z: 2 }] }));
  const event = { d: [Object.fromEntries(fields.map((name) => [name, list])), { last: 1 }] };
  const asked = { x: [1], y: { z: [1, 2] } };
  const pattern = { d: { ...Object.fromEntries(fields.map((name) => [name, asked])), last: [1] } };

  expect(isMatch(pattern, event)).toBe(false);
});

test("dotted names with twenty ways to one field are fast", () => {
  const steps = Array.from({ length: 20 }, () => "a");
  const ways = steps.map((_, index) => [steps.slice(0, index + 1).join("."), [{ a: 1 }, { b: 1 }]]);
  const event = { d: Array.from({ length: 200 }, () => Object.fromEntries(ways)) };
  const pattern = { d: { [steps.join(".")]: { x: [1], y: [{ exists: false }] } } };

  expect(isMatch(pattern, event)).toBe(false);
});

test("the maximum of combinations with many fields is read fast", () => {
  const twice = { $or: [{ x: [1] }, { y: [1] }] };
  const choices = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`o${index}`, twice]));
  const fields = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, [1]]));
  const event = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}`, 1]));

  expect(isMatch({ ...choices, ...fields }, event)).toBe(false);
});

test("any value is either refused with problems or kept as the source of the pattern", () => {
  const hostile = fc.oneof(
    fc.anything({ withBigInt: true, withMap: true, withDate: true, withNullPrototype: true }),
    fc.dictionary(fc.constantFrom("$or", "a", "prefix", "__proto__"), fc.jsonValue()),
  );
  void fc.assert(
    fc.property(hostile, (raw) => {
      const read = readPattern(raw);

      if (read.kind === "valid") expect(read.pattern.source).toBe(raw);
      else expect(read.problems.length).toBeGreaterThan(0);
    }),
    { numRuns: 3000 },
  );
});

test("matching does not change the event", () => {
  const pattern = { a: [{ exists: false }], b: { c: [{ "anything-but": "x" }, null] } };
  void fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("a", "b", "b.c"), fc.jsonValue()), (event) => {
      const before = JSON.stringify(event);

      const given = eventOf(before);

      isMatch(pattern, given);

      expect(JSON.stringify(given)).toBe(before);
    }),
  );
});
