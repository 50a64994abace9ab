import { expect, test } from "vitest";
import { isMatch } from "./pattern-of.ts";

const GUIDE = "user guide";
const RULER = "Ruler";

const EMPLOYEES = {
  employees: [
    { firstName: "John", lastName: "Doe" },
    { firstName: "Anna", lastName: "Smith" },
    { firstName: "Peter", lastName: "Jones" },
  ],
};
const IN_LISTS = { employees: [[EMPLOYEES.employees[0]!, EMPLOYEES.employees[1]!], []] };
const BOTH = { d: { a: [{ exists: true }], b: [{ exists: true }] } };
const BLUE = { u: { t: { k: ["color"], v: ["blue"] } } };

test.each([
  [GUIDE, { resources: ["r1", "r2"] }, { resources: ["r0", "r2"] }, true],
  [GUIDE, { resources: ["r1", "r2"] }, { resources: ["r0"] }, false],
  [RULER, { resources: ["r1"] }, { resources: [] }, false],
  [RULER, { resources: ["r1"] }, { resources: [["r0"], [["r1"]]] }, true],
  [RULER, { resources: [null] }, { resources: [null] }, true],
  [RULER, { employees: { firstName: ["Anna"] } }, EMPLOYEES, true],
  [RULER, { employees: { firstName: ["Anna"], lastName: ["Smith"] } }, EMPLOYEES, true],
  [RULER, { employees: { firstName: ["Anna"], lastName: ["Jones"] } }, EMPLOYEES, false],
  [RULER, { employees: { firstName: ["Anna"], lastName: ["Smith"] } }, IN_LISTS, true],
  [RULER, { employees: { firstName: ["Anna"], lastName: ["Doe"] } }, IN_LISTS, false],
  [RULER, BOTH, { d: [{ a: 1, b: 2 }] }, true],
  [RULER, BOTH, { d: [{ a: 1 }, { b: 2 }] }, false],
  [RULER, BOTH, { d: [{ a: 1 }, { b: 2 }, { a: 3, b: 4 }] }, true],
  [RULER, BOTH, { d: [[{ a: 1 }], [{ b: 2 }]] }, false],
  [RULER, BOTH, { d: { a: [1, 2], b: [3] } }, true],
  [RULER, BOTH, { d: { a: [{ x: 1 }], b: 1 } }, false],
  [RULER, BLUE, { u: [{ t: [{ k: "color", v: "blue" }] }] }, true],
  [RULER, BLUE, { u: [{ t: [{ k: "color" }, { v: "blue" }] }] }, false],
  [RULER, BLUE, { u: [{ t: { k: "color" } }, { t: { v: "blue" } }] }, false],
  [RULER, BLUE, { u: [{ t: { k: "size" } }, { t: [{ k: "color", v: ["red", "blue"] }] }] }, true],
  [RULER, { a: { x: [1] }, b: { y: [2] } }, { a: [{ x: 0 }, { x: 1 }], b: [{ y: 2 }, {}] }, true],
  [
    RULER,
    { i: { p: [{ numeric: [">", 0, "<", 100] }], n: ["g"] } },
    {
      i: [
        { n: "w", p: 50 },
        { n: "g", p: 200 },
      ],
    },
    false,
  ],
])("by the %s, %j on %j: %j", (_source, pattern, event, expected) => {
  expect(isMatch(pattern, event)).toBe(expected);
});

test.each([
  [{ d: { a: [1], b: [{ exists: false }] } }, { d: [{ a: 1 }] }, true],
  [{ d: { a: [1], b: [{ exists: false }] } }, { d: [{ a: 1, b: 2 }] }, false],
  [{ d: { a: [1], b: [{ exists: false }] } }, { d: [{ a: 1 }, { b: 2 }] }, true],
  [{ d: { b: [{ exists: false }], c: [1] } }, { d: [{ b: 2 }, { c: 1 }] }, false],
  [{ d: { b: [{ exists: false }], c: [1] } }, { d: [{ a: 2 }, { c: 1 }] }, true],
  [{ d: { b: [{ exists: false }] } }, { d: [{ b: 2 }, { c: 1 }] }, false],
  [{ d: { b: [{ exists: false }, 2], c: [1] } }, { d: [{ b: 2 }, { c: 1 }] }, false],
  [{ d: { b: [{ exists: false }, 2], c: [1] } }, { d: [{ b: 2, c: 1 }, { b: 3 }] }, true],
])(
  "a field that must be absent is searched for as in Ruler: %j on %j: %j",
  (pattern, event, expected) => {
    expect(isMatch(pattern, event)).toBe(expected);
  },
);
