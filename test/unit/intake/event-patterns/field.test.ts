import { expect, test } from "vitest";
import {
  couldMatchField,
  mismatchedFields,
} from "../../../../lib/intake/event-patterns/pattern.ts";
import { patternOf } from "./pattern-of.ts";

test.each([
  [{ source: ["skyhook"] }, true],
  [{ source: ["other"] }, false],
  [{ detail: { x: [1] } }, true],
  [{ source: ["skyhook"], detail: { x: [1] } }, true],
  [{ source: [{ prefix: "sky" }] }, true],
  [{ source: [{ "anything-but": "skyhook" }] }, false],
  [{ source: [{ "anything-but": { prefix: "aws." } }] }, true],
  [{ source: [{ exists: true }] }, true],
  [{ source: [{ exists: false }] }, false],
  [{ source: [{ exists: false }, "skyhook"] }, true],
  [{ source: { name: ["skyhook"] } }, false],
  [{ source: { name: [{ exists: false }] } }, true],
  [{ "source.name": ["skyhook"] }, false],
  [{ detail: { source: ["other"] } }, true],
  [{ $or: [{ source: ["other"] }, { source: ["skyhook"] }] }, true],
  [{ $or: [{ source: ["other"] }, { source: ["another"] }] }, false],
  [{ $or: [{ source: ["other"] }, { detail: { x: [1] } }] }, true],
  [{ $or: ["skyhook", "x"] }, true],
])("%j can match an event of source skyhook: %j", (pattern, expected) => {
  expect(couldMatchField(patternOf(pattern), "source", "skyhook")).toBe(expected);
});

test("names of prototype properties are ordinary names", () => {
  expect(couldMatchField(patternOf({ source: ["x"] }), "constructor", "x")).toBe(true);
});

test.each([
  [{ source: ["a"] }, { source: "a" }, []],
  [
    { source: ["a"], detail: { state: ["x"] } },
    { source: "b", detail: {} },
    ["detail.state", "source"],
  ],
  [{ "detail.state": ["x"] }, { detail: { state: "y" } }, ["detail.state"]],
  [{ detail: { state: [{ exists: false }] } }, { detail: { state: 1 } }, ["detail.state"]],
  [
    { detail: { items: { a: [1], b: [2] } } },
    { detail: { items: [{ a: 1 }, { b: 2 }] } },
    ["detail.items.a", "detail.items.b"],
  ],
  [
    { $or: [{ source: ["a"], "detail-type": ["T"] }, { account: ["1"] }] },
    { source: "b", "detail-type": "U", account: "2" },
    ["account"],
  ],
])("%j: the event %j does not match on %j", (pattern, event, fields) => {
  expect(mismatchedFields(patternOf(pattern), event)).toEqual(fields);
});
