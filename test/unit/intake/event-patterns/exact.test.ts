import { expect, test } from "vitest";
import { isMatch, patternOf } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";

test.each([
  [GUIDE, { Name: ["Alice"] }, { Name: "Alice" }, true],
  [GUIDE, { Name: ["Alice"] }, { Name: "alice" }, false],
  [GUIDE, { Name: ["Alice"] }, { Other: "Alice" }, false],
  [GUIDE, { Name: ["Alice"] }, { Name: "Alice", Other: 1 }, true],
  [
    GUIDE,
    { Location: ["New York"], Day: ["Monday"] },
    { Location: "New York", Day: "Monday" },
    true,
  ],
  [
    GUIDE,
    { Location: ["New York"], Day: ["Monday"] },
    { Location: "New York", Day: "Friday" },
    false,
  ],
  [GUIDE, { PaymentType: ["Credit", "Debit"] }, { PaymentType: "Debit" }, true],
  [GUIDE, { PaymentType: ["Credit", "Debit"] }, { PaymentType: "Cash" }, false],
  [GUIDE, { UserID: [null] }, { UserID: null }, true],
  [GUIDE, { UserID: [null] }, {}, false],
  [GUIDE, { UserID: [null] }, { UserID: "" }, false],
  [GUIDE, { UserID: [null] }, { UserID: "null" }, false],
  [GUIDE, { LastName: [""] }, { LastName: "" }, true],
  [GUIDE, { LastName: [""] }, { LastName: null }, false],
  [GUIDE, { LastName: [""] }, { LastName: " " }, false],
  [GUIDE, { Price: [100] }, { Price: 100 }, true],
  [GUIDE, { Price: [100] }, { Price: "100" }, false],
  [GUIDE, { Price: ["100"] }, { Price: 100 }, false],
  [GUIDE, { On: [true] }, { On: true }, true],
  [GUIDE, { On: [true] }, { On: false }, false],
  [GUIDE, { On: [true] }, { On: "true" }, false],
  [GUIDE, { detail: { state: ["running"] } }, { detail: { state: "running" } }, true],
  [GUIDE, { detail: { state: ["running"] } }, { state: "running" }, false],
  [GUIDE, { detail: { state: ["running"] } }, { detail: "running" }, false],
  [GUIDE, { detail: ["running"] }, { detail: { state: "running" } }, false],
  [RULER, { account: [123456789012] }, { account: 123456789012 }, true],
  [RULER, { a: [133.3] }, { a: 133.3 }, true],
  [RULER, { a: [0] }, { a: -0 }, true],
  [RULER, { b: ["192.0.2.0"] }, { b: "192.0.2.0" }, true],
  [RULER, { b: ["192.0.2.0"] }, { b: "192.0.2.1" }, false],
  [RULER, { b: ["2001:db8::1"] }, { b: "2001:0DB8:0:0:0:0:0:1" }, true],
  [RULER, { a: { b: ["x"] } }, { "a.b": "x" }, true],
  [RULER, { "a.b": ["x"] }, { a: { b: "x" } }, true],
  [RULER, { "a.b": ["x"] }, { "a.b": "x" }, true],
  [RULER, { d: { "a.b": { c: ["x"] } } }, { d: { a: { "b.c": "x" } } }, true],
  [RULER, { d: { "a.b": { c: ["x"] } } }, { d: { "a.b.c": "x" } }, true],
])("by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test("300, 300.0 and 3.0e2 in JSON are the same number", () => {
  const event = JSON.parse('{ "whole": 300, "decimal": 300.0, "scientific": 3.0e2 }');

  const isEqual = isMatch({ whole: [300], decimal: [300], scientific: [300] }, event);

  expect(isEqual).toBe(true);
});

test("reading does not change the pattern", () => {
  const source = { source: ["skyhook"], $or: [{ a: [1] }, { b: [{ exists: false }] }] };

  const pattern = patternOf(source);

  expect(JSON.stringify(pattern.source)).toBe(
    '{"source":["skyhook"],"$or":[{"a":[1]},{"b":[{"exists":false}]}]}',
  );
});

const PROTOTYPE = JSON.parse('{ "__proto__": ["x"] }');

test.each([
  [PROTOTYPE, JSON.parse('{ "__proto__": "x" }'), true],
  [PROTOTYPE, {}, false],
  [PROTOTYPE, { a: "x" }, false],
  [
    JSON.parse('{ "a": { "__proto__": { "b": ["x"] } } }'),
    JSON.parse('{ "a": { "__proto__.b": "x" } }'),
    true,
  ],
  [{ constructor: [{ exists: true }] }, {}, false],
  [{ constructor: ["x"] }, { constructor: "x" }, true],
  [{ constructor: { name: ["Object"] } }, {}, false],
  [{ toString: [{ exists: false }] }, {}, true],
  [{ list: { length: [{ exists: true }] } }, { list: [1, 2] }, false],
])("names of prototype properties are ordinary names: %j on %j: %j", (pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});
