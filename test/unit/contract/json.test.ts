import Big from "big.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatWireJson,
  parseMoneyJson,
  parseRequestJson,
  parseWireJson,
} from "../../../lib/contract/json.ts";

const uint64 = fc.bigInt({ min: 0n, max: 18446744073709551615n });

/** Values with a wire form: integers outside the safe range as bigints, everything else as in JSON. */
const wireValue = fc.letrec((again) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false),
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    fc.bigInt({ min: 9007199254740992n, max: 2n ** 80n }),
    fc.array(again("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom("__proto__", "toString", "isLosslessNumber")),
      again("value"),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value;

test("every value is the same after formatting and parsing", () => {
  fc.assert(
    fc.property(wireValue, (value) => {
      // A float above the safe range has no fraction, so it parses as an integer with the printed digits.
      const expected = mapNumbers(value, (number) =>
        Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e100
          ? BigInt(Big(String(number)).toFixed())
          : number,
      );

      expect(parseWireJson(formatWireJson(value))).toEqual(expected);
    }),
  );
});

function mapNumbers(value: unknown, change: (number: number) => unknown): unknown {
  if (typeof value === "number") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapNumbers(item, change));
  if (value === null || typeof value !== "object") return value;
  const fields = Object.entries(value).map(([key, item]) => [key, mapNumbers(item, change)]);
  return Object.fromEntries(fields);
}

test("every unsigned 64-bit integer keeps its digits in both directions", () => {
  fc.assert(
    fc.property(uint64, (integer) => {
      const json = `{"bytes":${integer}}`;

      expect(formatWireJson({ bytes: integer })).toBe(json);
      expect(formatWireJson(parseWireJson(json))).toBe(json);
    }),
  );
});

test.each([
  ["0", 0],
  ["-0", -0],
  ["1.50", 1.5],
  ["1e3", 1000],
  ["9007199254740991", 9007199254740991],
  ["9007199254740992", 9007199254740992n],
  ["-9007199254740992", -9007199254740992n],
  ["18446744073709551616", 18446744073709551616n],
  ["1e400", Number.POSITIVE_INFINITY],
  ["1.0", 1],
  ["1e19", 10_000_000_000_000_000_000n],
  ["-1.0E+19", -10_000_000_000_000_000_000n],
  ["18446744073709551615.000", 18446744073709551615n],
  ["1844674407370955161.5e1", 18446744073709551615n],
  ["1.8446744073709551615e19", 18446744073709551615n],
  ["18446744073709551615000e-3", 18446744073709551615n],
  ["0e999999999", 0],
  ["1e99", 10n ** 99n],
  ["1e999999999", Number.POSITIVE_INFINITY],
  [' "text" ', "text"],
])("%s parses as %s", (json, value) => {
  expect(parseWireJson(json)).toBe(value);
  expect(parseRequestJson(json)).toBe(value);
});

test("an integer keeps all its digits in every JSON notation", () => {
  fc.assert(
    fc.property(uint64, fc.integer({ min: -30, max: 30 }), (integer, exponent) => {
      const shifted = Big(`${integer}e${-exponent}`).toFixed();

      const read = parseRequestJson(`${shifted}e${exponent}`);

      expect(formatWireJson(read)).toBe(String(integer));
    }),
  );
});

test.each([
  "0.99999999999999999999",
  "1.00000000000000000001",
  "1e-999999999",
  "18446744073709551615e-30",
  `1.${"0".repeat(200)}1`,
])("the fraction %s of a request is not rounded to an integer", (json) => {
  expect(parseRequestJson(json)).not.toSatisfy(Number.isInteger);
});

describe("a reply with prices", () => {
  test.each([
    ["0.1", 0.1],
    ["0.10", 0.1],
    ["-12.50", -12.5],
    ["0.30000000000000004", 0.30000000000000004],
    ["100", 100],
    ["0", 0],
    ["0.00", 0],
    ["1e-7", 1e-7],
    ["1E+21", 1e21],
    ["0.0000001", 1e-7],
    ["1e400", Number.POSITIVE_INFINITY],
    ["0.08333333333333333333", "0.08333333333333333333"],
    ["0.123456789012345678", "0.123456789012345678"],
    ["-123456789012345678.25", "-123456789012345678.25"],
    ["9007199254740993", "9007199254740993"],
    ["9007199254740992", 9007199254740992],
  ])("has %s as %j", (json, value) => {
    expect(parseMoneyJson(`{"price":${json}}`)).toEqual({ price: value });
  });

  test("keeps every digit of every decimal number", () => {
    const decimal = fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 25n }), fc.nat(25))
      .map(([digits, places]) => {
        const text = String(digits).padStart(places + 1, "0");
        const [whole, part] = [
          text.slice(0, text.length - places),
          text.slice(text.length - places),
        ];
        return part === "" ? whole : `${whole}.${part}`;
      });
    fc.assert(
      fc.property(decimal, (text) => {
        const read = parseMoneyJson(text);

        expect(Big(String(read)).eq(text)).toBe(true);
      }),
    );
  });
});

test.each([
  ["null", undefined],
  ["null", null],
  ['{"kept":null}', { kept: null, left_out: undefined }],
  ["[null,1]", [undefined, 1]],
  ['{"\\"\\n\\ud800":"😀"}', { '"\n\ud800': "😀" }],
  ['{"a":18446744073709551615}', { a: 18446744073709551615n }],
])("%s is the JSON of its value", (json, value) => {
  expect(formatWireJson(value)).toBe(json);
});

describe("invalid JSON is refused:", () => {
  test.each([
    "",
    " ",
    "{",
    '{"a":1,}',
    "[1,]",
    "01",
    "1.",
    ".5",
    "+1",
    "NaN",
    "Infinity",
    "undefined",
    "'a'",
    '"a\nb"',
    '"\\x41"',
    "{a:1}",
    '{"a":1}{"b":2}',
    "truely",
    "<html></html>",
    '{"tasks":["50f53a35',
    '{"a":1,"a":2}',
    '{"__proto__":1,"__proto__":2}',
  ])("%j", (text) => {
    expect(() => parseWireJson(text)).toThrow(SyntaxError);
  });

  test.each(["[", '{"a":', '[{"a":'])("%j a million times", (opening) => {
    expect(() => parseWireJson(opening.repeat(1_000_000))).toThrow(RangeError);
  });
});

test("any text either parses as plain data or throws SyntaxError", () => {
  const jsonLike = fc.array(
    fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"',
      "\\",
      "u",
      "0",
      "-",
      ".",
      "e",
      "true",
      '"a"',
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(
      jsonLike.map((parts) => parts.join("")),
      (text) => {
        let read: unknown;
        try {
          read = parseWireJson(text);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
          expect(() => JSON.parse(text)).toThrow(SyntaxError);
          return;
        }
        expect(read).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  '{"__proto__":{"polluted":true}}',
  '{"\\u005f_proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '[{"a":{"__proto__":{"polluted":true}}}]',
])("%s pollutes no prototype and is the same after parsing and formatting", (text) => {
  const read = parseWireJson(text);

  expect(Object.getPrototypeOf(read)).toBe(
    Array.isArray(read) ? Array.prototype : Object.prototype,
  );
  expect(Object.prototype).not.toHaveProperty("polluted");
  expect(formatWireJson(read)).toBe(text.replace("\\u005f", "_"));
});

test.each([parseWireJson, parseRequestJson, parseMoneyJson])(
  "%o refuses more than 200 levels, which would overflow the stack of a later step",
  (parse) => {
    const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

    expect(() => parse(deep(200))).not.toThrow();
    expect(() => parse(deep(202))).toThrow("deeper than 200 levels");
  },
);

test("a text or a name that looks like a formatted bigint stays as it is", () => {
  const value = { limit: 2n ** 64n, "\u00005": "\u0000123", list: [-7n, "\u0000-7"] };

  expect(formatWireJson(value)).toBe(
    '{"limit":18446744073709551616,"\\u00005":"\\u0000123","list":[-7,"\\u0000-7"]}',
  );
  expect(formatWireJson({ limit: -7n, list: [1n] })).toBe('{"limit":-7,"list":[1]}');
});

/** JSON with everything that `JSON.parse` reads differently: numbers, repeated and special names, escapes, white space. */
const { value: anyJson } = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom("", "", " ", "\n\t");
  const part = fc.tuple(space, tie("value"), space).map((texts) => texts.join(""));
  const name = fc.constantFrom("a", "b", "__proto__", "\\u005f_proto__", 'x\\"', "1", "a,5e3", ":");
  const member = fc.tuple(space, name, space, part).map(([a, n, b, v]) => `${a}"${n}"${b}:${v}`);
  return {
    value: fc.oneof(
      { depthSize: "medium" },
      fc.constantFrom(
        "1.0",
        "1e2",
        "-0",
        "0.5",
        "9007199254740993",
        "1E-400",
        "-12",
        "007",
        "true",
      ),
      fc.constantFrom("1.00000000000000000001", "100000000000000000000000000", "null", "tru", ""),
      fc.constantFrom(
        '"5.5"',
        '":1.5"',
        '"18446744073709551615"',
        '"2025-11-03T08:15:08.000Z"',
        '"\\n"',
      ),
      fc.array(part, { maxLength: 3 }).map((parts) => `[${parts}]`),
      fc.array(member, { maxLength: 3 }).map((members) => `{${members}}`),
    ),
  };
});

const outcomeOf = (read: () => unknown) => {
  try {
    return { value: read() };
  } catch {
    return "invalid";
  }
};

/** A name before the text keeps every text away from `JSON.parse`, because it needs care. */
const CAREFUL = '{"\\u0061":1.5,"text":';

test.each([parseWireJson, parseRequestJson])(
  "%o reads a text as the exact parser does, whether `JSON.parse` reads it or not",
  (parse) => {
    fc.assert(
      fc.property(anyJson, (text) => {
        const exact = outcomeOf(() => Object(parse(`${CAREFUL}${text}}`)).text);
        expect(outcomeOf(() => parse(text))).toEqual(exact);
      }),
      { seed: 20260101, numRuns: 3000 },
    );
  },
);
