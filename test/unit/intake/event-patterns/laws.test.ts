import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../lib/platform/ports/ledger.ts";
import { matchesFlat, type Wanted } from "./flat-model.ts";
import { isMatch, problemsOf } from "./pattern-of.ts";

const NAMES = ["a", "b", "a-b", "__proto__", "constructor", ""] as const;
const leaf = fc.oneof(
  fc.constantFrom<JsonValue>(
    "",
    "x",
    "10.0.0.1",
    "null",
    0,
    1,
    1.5,
    123456789012,
    true,
    false,
    null,
  ),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const objectOf = (value: fc.Arbitrary<JsonValue>, names: readonly string[]) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
      selector: ([name]) => name,
      maxLength: 3,
    })
    .map((entries): JsonObject => Object.fromEntries(entries));

const { event } = fc.letrec<{ event: JsonObject; value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("event"),
  ),
  event: objectOf(tie("value"), NAMES),
}));

/** A pattern of the leaves of an event, taking the first element of lists; undefined without leaves. */
const ownPattern = (value: JsonValue): unknown => {
  if (Array.isArray(value)) return value.map(ownPattern).find((found) => found !== undefined);
  if (typeof value !== "object" || value === null) return [value];
  const fields = Object.entries(value).map(([name, inner]) => [name, ownPattern(inner)] as const);
  const found = fields.filter(([, inner]) => inner !== undefined);
  return found.length > 0 ? Object.fromEntries(found) : undefined;
};

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const withOwnPattern = event
  .map((one) => ({ one, pattern: ownPattern(one) }))
  .filter(({ pattern }) => pattern !== undefined && problemsOf(pattern).length === 0);

test("an event matches the pattern of its own leaves", () => {
  void fc.assert(
    fc.property(withOwnPattern, ({ one, pattern }) => {
      expect(isMatch(pattern, one)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("a match stays when fields are added to an event, unless one must be absent", () => {
  const extra = objectOf(leaf, ["new", "newer", "a.new"]);
  const widen = (value: JsonValue, added: JsonObject): JsonValue => {
    if (Array.isArray(value)) return [...value.map((each) => widen(each, added)), added, "added"];
    if (!isPlainObject(value)) return value;
    const fields = Object.entries(value).map(
      ([name, inner]) => [name, widen(inner, added)] as const,
    );
    return { ...Object.fromEntries(fields), ...added };
  };
  void fc.assert(
    fc.property(withOwnPattern, extra, ({ one, pattern }, added) => {
      const widened = widen(one, added);

      expect(isMatch({ whole: pattern }, { whole: widened })).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test("anything-but is the opposite of an exact match on a present leaf", () => {
  const plainText = fc.string().filter((text) => !text.includes(".") && !text.includes(":"));
  const wanted = fc.oneof(plainText, fc.integer({ min: -9, max: 9 }));
  void fc.assert(
    fc.property(wanted, fc.oneof(leaf, wanted), (excluded, value) => {
      const isExact = isMatch({ a: [excluded] }, { a: value });

      expect(isMatch({ a: [{ "anything-but": excluded }] }, { a: value })).toBe(!isExact);
    }),
    { numRuns: 1000 },
  );
});

test.each(["prefix", "suffix", "equals-ignore-case", "wildcard"])(
  "anything-but with %s is the opposite of the operator on a present leaf",
  (operator) => {
    const few = fc.string({ unit: fc.constantFrom("a", "A", "b"), maxLength: 4 });
    void fc.assert(
      fc.property(few, fc.oneof(few, leaf), (text, value) => {
        const operand = { [operator]: text === "" ? "a" : text };
        const isPositive = isMatch({ a: [operand] }, { a: value });

        expect(isMatch({ a: [{ "anything-but": operand }] }, { a: value })).toBe(!isPositive);
      }),
      { numRuns: 500 },
    );
  },
);

test("a field is either absent or present", () => {
  void fc.assert(
    fc.property(event, (one) => {
      const isThere = isMatch({ a: { b: [{ exists: true }] } }, one);

      expect(isMatch({ a: { b: [{ exists: false }] } }, one)).toBe(!isThere);
    }),
    { numRuns: 1000 },
  );
});

test("$or matches if one of its choices does", () => {
  const choice = objectOf(fc.constantFrom<JsonValue>(["x"], [1], [{ exists: true }]), ["a", "b"]);
  const choices = fc.array(
    choice.filter((one) => Object.keys(one).length > 0),
    { minLength: 2, maxLength: 4 },
  );
  void fc.assert(
    fc.property(choices, event, (each, one) => {
      const isAny = each.some((pattern) => isMatch(pattern, one));

      expect(isMatch({ $or: each }, one)).toBe(isAny);
    }),
    { numRuns: 1000 },
  );
});

const STEPS = ["a", "b", "c"] as const;
const fewLeaves = fc.constantFrom<JsonValue>("x", 1);
const { small } = fc.letrec<{ small: JsonObject; value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fewLeaves,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("small"),
    tie("small"),
  ),
  small: objectOf(tie("value"), STEPS),
}));
/** Names without common prefixes: a name that is a prefix too is rare, and ambiguous in lists. */
const LEAF_NAMES = ["a.a", "a.b.a", "a.b.b", "a.c.c", "b.a", "b.c", "c"];

const matchesAsRuler = (wanted: fc.Arbitrary<Wanted>, numRuns: number): void => {
  const fields = fc.uniqueArray(fc.tuple(fc.constantFrom(...LEAF_NAMES), wanted), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 4,
  });
  void fc.assert(
    fc.property(fields, small, (asked, one) => {
      const isFlatMatch = matchesFlat(new Map(asked), one);

      expect(isMatch(Object.fromEntries(asked), one)).toBe(isFlatMatch);
    }),
    { numRuns },
  );
};

test("fields in nested lists match as in Ruler's search", () => {
  matchesAsRuler(fc.constantFrom<Wanted>(["x"], [1], ["x", 1], [{ exists: true }]), 6000);
});

test("fields that must be absent match as in Ruler's search", () => {
  matchesAsRuler(
    fc.constantFrom<Wanted>(
      ["x"],
      [{ exists: true }],
      [{ exists: false }],
      [{ exists: false }, "x"],
    ),
    6000,
  );
});
