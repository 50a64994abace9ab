import { expect, test } from "vitest";
import { isMatch } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";
const PNG = { FileName: [{ suffix: ".png" }] };
const ANY_EVENTB = { service: [{ prefix: { "equals-ignore-case": "EventB" } }] };
const ANY_TBRIDGE = { service: [{ suffix: { "equals-ignore-case": "tBridge" } }] };
const ALICE = { Name: [{ "equals-ignore-case": "alice" }] };

test.each([
  [GUIDE, { time: [{ prefix: "2017-10-02" }] }, { time: "2017-10-02T18:43:48Z" }, true],
  [GUIDE, { time: [{ prefix: "2017-10-02" }] }, { time: "2017-10-0" }, false],
  [GUIDE, { time: [{ prefix: "2017-10-02" }] }, { time: "x2017-10-02" }, false],
  [GUIDE, { Region: [{ prefix: "us-" }] }, { Region: "US-east-1" }, false],
  [RULER, { a: [{ prefix: "1" }] }, { a: 12 }, false],
  [RULER, { a: [{ prefix: "n" }] }, { a: null }, false],
  [RULER, { a: [{ prefix: "" }] }, { a: "" }, true],
  [RULER, { a: [{ prefix: "" }] }, { a: 1 }, false],
  [RULER, { a: [{ prefix: "" }] }, {}, false],
])("prefix, by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test.each([
  [GUIDE, PNG, { FileName: "photo.png" }, true],
  [GUIDE, PNG, { FileName: ".png" }, true],
  [GUIDE, PNG, { FileName: "photo.png.gz" }, false],
  [GUIDE, PNG, { FileName: "photo.PNG" }, false],
  [GUIDE, PNG, { FileName: "png" }, false],
  [RULER, { a: [{ suffix: "2" }] }, { a: 12 }, false],
  [RULER, { a: [{ suffix: "" }] }, { a: "x" }, true],
])("suffix, by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test.each([
  [GUIDE, ANY_EVENTB, { service: "EVENTBridge" }, true],
  [GUIDE, ANY_EVENTB, { service: "eventb" }, true],
  [GUIDE, ANY_EVENTB, { service: "event" }, false],
  [GUIDE, ANY_EVENTB, { service: "my eventbridge" }, false],
  [GUIDE, ANY_TBRIDGE, { service: "EVENTBRIDGE" }, true],
  [GUIDE, ANY_TBRIDGE, { service: "tbridge" }, true],
  [GUIDE, ANY_TBRIDGE, { service: "bridge" }, false],
  [GUIDE, ANY_TBRIDGE, { service: "tbridges" }, false],
  [RULER, ANY_TBRIDGE, { service: 7 }, false],
])(
  "prefix and suffix ignoring case, by the %s, %j on %j: %j",
  (_source, pattern, event, expected) => {
    expect(isMatch(pattern, event)).toBe(expected);
  },
);

test.each([
  [GUIDE, ALICE, { Name: "Alice" }, true],
  [GUIDE, ALICE, { Name: "ALICE" }, true],
  [GUIDE, ALICE, { Name: "Alicia" }, false],
  [GUIDE, ALICE, { Name: "alice " }, false],
  [GUIDE, ALICE, { Name: "alic" }, false],
  [RULER, { a: [{ "equals-ignore-case": "" }] }, { a: "" }, true],
  [RULER, { a: [{ "equals-ignore-case": "" }] }, { a: "x" }, false],
  [RULER, { a: [{ "equals-ignore-case": "TRUE" }] }, { a: true }, false],
  [RULER, { a: [{ "equals-ignore-case": "ⱥbc" }] }, { a: "ȺBC" }, true],
  [RULER, { a: [{ "equals-ignore-case": "ж😀" }] }, { a: "Ж😀" }, true],
  [RULER, { a: [{ "equals-ignore-case": "straße" }] }, { a: "STRASSE" }, true],
  [RULER, { a: [{ suffix: { "equals-ignore-case": "aße" } }] }, { a: "STRASSE" }, true],
])("equals-ignore-case, by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});
