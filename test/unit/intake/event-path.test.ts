import { describe, expect, test } from "vitest";
import {
  EVENT_FIELD_RULE,
  PATH_RULE,
  readEventPath,
  valueAt,
} from "../../../lib/intake/template.ts";
import type { JsonObject } from "../../../lib/platform/ports/ledger.ts";

// Parsed, because __proto__ in an object literal sets the prototype.
const EVENT: JsonObject = JSON.parse(`{
  "source": "billing",
  "detail-type": "InvoicePaid",
  "resources": ["a", "b"],
  "detail": {
    "project": 7,
    "nothing": null,
    "empty": {},
    "0": "named zero",
    "": "no name",
    "odd key": { "it's": { "back\\\\slash": true } },
    "items": [{ "id": "x" }, [1, [2, 3]]],
    "__proto__": { "own": "data" },
    "ключ": "😀"
  }
}`);

const read = (text: string): unknown => {
  const { path, ...other } = readEventPath(text);
  return path ? valueAt(EVENT, path) : other;
};

describe("a path into an event", () => {
  test.each([
    ["$.source", "billing"],
    ["$.detail-type", "InvoicePaid"],
    ["$.detail.project", 7],
    ["$.detail.nothing", null],
    ["$.detail.empty", {}],
    ["$.detail.0", "named zero"],
    ["$.detail['']", "no name"],
    ["$.detail['odd key']['it\\'s']['back\\\\slash']", true],
    ["$.detail['items'][0].id", "x"],
    ["$.detail.items[1][1][0]", 2],
    ["$.resources[1]", "b"],
    ["$.detail.__proto__.own", "data"],
    ["$.detail.ключ", "😀"],
  ])("%s leads to a value", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test.each([
    "$.detail.other",
    "$.detail.project.id",
    "$.detail.nothing.id",
    "$.detail.toString",
    "$.detail.constructor.name",
    "$.detail.empty.__proto__",
    "$.detail.items.length",
    "$.detail.items.0",
    "$.detail.items[2]",
    "$.detail[0]",
    "$.source[0]",
    "$.source.length",
    "$.replay-name",
  ])(
    "%s leads to no value: paths reach only own fields of objects and elements of lists",
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  test.each([
    "$.",
    "$..detail",
    "$.detail.",
    "$.detail..project",
    "$.detail.odd key",
    "$.detail[]",
    "$.detail[-1]",
    "$.detail[01]",
    "$.detail[1e3]",
    "$.detail[*]",
    "$.detail[0",
    "$.detail['a]",
    "$.detail['a'b']",
    "$.detail['a\\n']",
    '$.detail["a"]',
    "$.detail['a']b",
    "$.detail.a ",
    "$.50 off",
  ])("%j is not a path", (text) => {
    expect(readEventPath(text)).toEqual({ rule: PATH_RULE });
  });

  test.each(["$.project", "$.details.project", "$.__proto__", "$.toString"])(
    "%s begins with a field that events do not have",
    (text) => {
      expect(readEventPath(text)).toEqual({ rule: EVENT_FIELD_RULE });
    },
  );

  test("of any length is read in linear time", () => {
    expect(readEventPath(`$.detail${"['".repeat(200_000)}`)).toEqual({ rule: PATH_RULE });
    expect(readEventPath(`$.detail${"[1]".repeat(200_000)}`).path?.steps.length).toBe(200_001);
  });
});
