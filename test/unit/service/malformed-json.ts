import fc from "fast-check";
import { formatWireJson } from "../../../lib/contract/json.ts";

type Path = readonly (string | number)[];

const quote = (text: string): string => JSON.stringify(text);

/** One of each kind of value that a careless or hostile sender may use in any place. */
const VALUES: readonly string[] = [
  ...["null", "true", "false", "0", "-0", "-1", "1.5", "1e2", "1e400", "-1e400", "1e-400"],
  ...["2147483648", "9007199254740992", "9007199254740993", "-9007199254740993"],
  ...["18446744073709551615", "18446744073709551616", "9".repeat(5_000), `0.${"1".repeat(5_000)}`],
  ...['""', '" "', '"7"', '"true"', '"null"', '"."', '".."', '"%"', '"\\u0000"', '"\\n"'],
  ...['"\\ud800"', '"\\udc00x"', '"😀"', '"e\\u0301"', quote("x".repeat(30_000))],
  ...['"__proto__"', '"constructor"', '"$(x)"', '"<b>"', '"\' OR 1=1"'],
  ...["[]", "[null]", "[[]]", "{}", '{"":{}}', '{"__proto__":{"timeout":1}}', '{"length":1}'],
  ...['{"constructor":{"prototype":{"x":1}}}', '{"toString":null}', '{"then":1}', '{"toJSON":1}'],
  `[${Array(3_000).fill("{}").join()}]`,
  "[".repeat(10_000) + "]".repeat(10_000),
  `${'{"a":'.repeat(10_000)}0${"}".repeat(10_000)}`,
];

/** Texts that are not JSON, although some parsers accept them. */
const BROKEN = [
  "",
  " ",
  "NaN",
  "Infinity",
  "undefined",
  "'x'",
  "01",
  "+1",
  ".5",
  "0x10",
  "1n",
  "[1,]",
];

/** Names of unknown fields. Some are properties of objects, others are empty or have control characters. */
export const STRANGE_NAMES: readonly string[] = [
  ...["why", " ", ".", "0", "__proto__", "constructor", "prototype", "toString", "valueOf"],
  ...["hasOwnProperty", "then", "toJSON", "isLosslessNumber", "\ud800", "\u0000", "😀", "name "],
  "k".repeat(10_000),
];

const hostileValue = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.constantFrom(...BROKEN) },
  { weight: 1, arbitrary: fc.json() },
);
const hostileKey = fc.constantFrom("", ...STRANGE_NAMES);

/** Placeholders in a value, which hostile texts replace after serialisation. */
const VALUE_HERE = "@value@";
const KEY_HERE = "@key@";

const write = (value: unknown, rawValue: string, key = ""): string =>
  formatWireJson(value)
    .replace(quote(VALUE_HERE), () => rawValue)
    .replace(quote(KEY_HERE), () => quote(key));

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const pathsIn = (value: unknown, path: Path = []): Path[] => [
  path,
  ...(isObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))
    : []),
];

const changeAt = (value: unknown, path: Path, change: (found: unknown) => unknown): unknown => {
  const [step, ...rest] = path;
  if (step === undefined || !isObject(value)) return change(value);
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
    key,
    key === step ? changeAt(inner, rest, change) : inner,
  ]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
};

/** The nth selected place in a value, or the value itself. */
const placeIn = (value: unknown, nth: number, isWanted: (path: Path) => boolean): Path => {
  const places = pathsIn(value).filter(isWanted);
  return places[nth % places.length] ?? [];
};

const replaced = (value: unknown, nth: number, raw: string): string =>
  write(
    changeAt(
      value,
      placeIn(value, nth, () => true),
      () => VALUE_HERE,
    ),
    raw,
  );

const without = (found: unknown, last: string | number | undefined): unknown => {
  if (!isObject(found)) return undefined;
  const rest = Object.entries(found).filter(([key]) => key !== last);
  return Array.isArray(found) ? rest.map(([, inner]) => inner) : Object.fromEntries(rest);
};

const shortened = (value: unknown, nth: number): string => {
  const place = placeIn(value, nth, ({ length }) => length > 0);
  return formatWireJson(
    changeAt(value, place.slice(0, -1), (found) => without(found, place.at(-1))),
  );
};

/** The JSON of an object with one additional field. */
export const extended = (value: unknown, key: string, raw: string): string =>
  write({ ...(isObject(value) ? value : {}), [KEY_HERE]: VALUE_HERE }, raw, key);

const repeated = (value: unknown, nth: number, raw: string): string => {
  const [key = "name"] = placeIn(value, nth, ({ length }) => length === 1);
  return extended(value, String(key), raw);
};

/** The JSON of a value with one mistake. */
export const malformedJson = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(valid, fc.nat(), hostileValue).map((a) => replaced(...a)) },
    { weight: 1, arbitrary: fc.tuple(valid, fc.nat()).map((a) => shortened(...a)) },
    { weight: 1, arbitrary: fc.tuple(valid, hostileKey, hostileValue).map((a) => extended(...a)) },
    { weight: 1, arbitrary: fc.tuple(valid, fc.nat(), hostileValue).map((a) => repeated(...a)) },
    { weight: 1, arbitrary: hostileValue },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          valid.map((value) => formatWireJson(value)),
          fc.nat(),
        )
        .map(([text, nth]) => text.slice(0, nth % text.length)),
    },
  );

const insert = (text: string, nth: number, bytes: readonly number[]): Uint8Array => {
  const whole = Buffer.from(text, "utf8");
  const at = nth % (whole.length + 1);
  return Buffer.concat([whole.subarray(0, at), Buffer.from(bytes), whole.subarray(at)]);
};

/** Invalid UTF-8: a lone continuation byte, cut off, overlong, half of an emoji, NUL, other byte order marks. */
const BAD_BYTES = [[0xff], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0], [0xfe, 0xff]];
const BYTE_ORDER_MARK = "\ufeff";
const BODY_LIMIT = 1_048_576;

/** Valid JSON in invalid bytes: wrong encodings, a byte order mark, more bytes than are ever read. */
export const malformedBytes = (valid: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array> => {
  const text = valid.map((value) => formatWireJson(value));
  return fc.oneof(
    fc.tuple(text, fc.nat(), fc.constantFrom(...BAD_BYTES)).map((a) => insert(...a)),
    text.map((json) => Buffer.from(json, "utf16le")),
    text.map((json) => Buffer.from(BYTE_ORDER_MARK + json, "utf16le")),
    text.map((json) => Buffer.from(BYTE_ORDER_MARK + json, "utf8")),
    text.map((json) => Buffer.from(json, "latin1")),
    text.map((json) => Buffer.from(json.padEnd(BODY_LIMIT + 1))),
    fc.uint8Array({ maxLength: 50 }),
  );
};
