import fc from "fast-check";
import { anyCharacter } from "./schema-arbitrary.ts";

/** Path segments, as in a URL: broken escapes, escaped separators, dots, control characters, lengths. */
const SEGMENTS: readonly string[] = [
  ...["", "%", "%z", "%zz", "%2", "%2F", "%2f..%2f", "%5C", "%00", "%0A", "%0d%0aX-A:%201", "%25"],
  ...["%2525", "%C3%28", "%ED%A0%80", "%FF", "%F0%9F%98%80", "😀", "\u0000", " ", "%20", "%09"],
  ...[".", "..", "%2e", "%2e%2e", ".%2E", "...", "*", ":id", "{id}", "$&", "~", ";a=b", "a+b", "@"],
  ...["-1", "-0", "00", "01", "+1", "1.0", "1e3", "0x1", "9007199254740992", "1e400", "NaN"],
  ...["null", "undefined", "true", "__proto__", "constructor", "toString", "\\", "//", "'", '"'],
  "a".repeat(10_000),
  "%41".repeat(3_000),
  "é".repeat(5_000),
];

const hostileSegment = fc.oneof(
  fc.constantFrom(...SEGMENTS),
  fc.string({ unit: anyCharacter }).map((text) => text.replaceAll(/[?#]/g, "")),
);

/** The path with one segment replaced, added or removed. */
export const hostilePath = (path: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(path, fc.nat(), fc.nat(2), hostileSegment).map(([text, nth, removed, segment]) => {
    const segments = text.slice(1).split("/");
    return `/${segments.toSpliced(nth % segments.length, removed, segment).join("/")}`;
  });

const NAMES = [
  "why",
  "",
  "key",
  "limit",
  "page",
  "state",
  "__proto__",
  "constructor",
  "a[]",
  "a.b",
];
const VALUES = ["", "%", "%zz", "%00", "%FF", "+", "1", "-1", "1e400", "01", "null", "a=b", "😀"];

const pairWith = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(name, fc.constantFrom("", "=", "=="), fc.constantFrom(...VALUES, "v".repeat(10_000)))
    .map((parts) => parts.join(""));

/** A query string with unknown, empty, repeated or badly escaped parameters. */
export const hostileQuery = (
  query: fc.Arbitrary<string>,
  names: readonly string[],
): fc.Arbitrary<string> =>
  fc
    .tuple(query, fc.array(pairWith(fc.constantFrom(...NAMES, ...names)), { minLength: 1 }))
    .map(([text, pairs]) => `?${[text.slice(1), ...pairs].join("&")}`);

/** All methods that Node's HTTP parser passes to a handler. */
export const hostileMethod = fc.constantFrom(
  ...["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "QUERY"],
);

/** Valid header values without a valid API key. */
export const hostileAuthorization = fc.constantFrom(
  ...["", "apikey", "apikey ", "apikey  x", "apikey x y", "apikey\tx", "Bearer x", "Basic eDp4"],
  ...["apikey 2001_5eed", "apikey null", "apikey undefined", "apikey __proto__", "apikey \u00ff"],
  ...["apikey, apikey x", "APIKEY x", `apikey ${"x".repeat(10_000)}`, "x".repeat(10_000)],
);

export const hostileContentType = fc.constantFrom(
  ...["", "text/plain", "text/json", "application/jsonp", "application/x-www-form-urlencoded"],
  ...["multipart/form-data; boundary=x", "application/json, text/html", "application/json charset"],
  ...["application/merge-patch+json", "*/*", "json", ";", "application/json;charset=utf-16"],
  ...["APPLICATION/JSON", "\u00ff", "application/json\u00a0", "x".repeat(10_000)],
);
