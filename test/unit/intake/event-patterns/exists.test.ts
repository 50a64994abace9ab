import { expect, test } from "vitest";
import { isMatch } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";
const THERE = { detail: { "c-count": [{ exists: true }] } };
const ABSENT = { detail: { "c-count": [{ exists: false }] } };

test.each([
  [GUIDE, THERE, { detail: { "c-count": 5 } }, true],
  [GUIDE, THERE, { detail: { state: "x" } }, false],
  [GUIDE, ABSENT, { detail: { state: "x" } }, true],
  [GUIDE, ABSENT, { detail: { "c-count": 5 } }, false],
  [GUIDE, ABSENT, { detail: { "c-count": { c1: 100 } } }, true],
  [GUIDE, THERE, { detail: { "c-count": { c1: 100 } } }, false],
  [RULER, THERE, { detail: { "c-count": null } }, true],
  [RULER, THERE, { detail: { "c-count": "" } }, true],
  [RULER, THERE, { detail: { "c-count": false } }, true],
  [RULER, THERE, { detail: { "c-count": [] } }, false],
  [RULER, ABSENT, { detail: { "c-count": [] } }, true],
  [RULER, THERE, { detail: { "c-count": [0] } }, true],
  [RULER, ABSENT, { detail: { "c-count": [0] } }, false],
  [RULER, THERE, { detail: { "c-count": [{ c1: 100 }] } }, false],
  [RULER, ABSENT, { detail: { "c-count": [[], {}] } }, true],
  [RULER, ABSENT, {}, true],
  [RULER, ABSENT, { detail: "text" }, true],
  [RULER, ABSENT, { detail: [] }, true],
  [RULER, { a: [{ exists: false }, "x"] }, {}, true],
  [RULER, { a: [{ exists: false }, "x"] }, { a: "x" }, true],
  [RULER, { a: [{ exists: false }, "x"] }, { a: "y" }, false],
  [RULER, { a: [{ exists: false }, { exists: true }] }, {}, true],
  [RULER, { a: [{ exists: false }], b: ["x"] }, { b: "x" }, true],
  [RULER, { a: [{ exists: false }], b: ["x"] }, { a: 1, b: "x" }, false],
])("by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});
