import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { redactorOf } from "../../../lib/engine/redaction.ts";

const redactor = (...values: readonly string[]) =>
  redactorOf(updateContainer, {
    params: {},
    query: {},
    body: { envs: Object.fromEntries(values.map((value, at) => [`NAME_${at}`, value])) },
  });

const inJson = (text: string): string => JSON.stringify(text);
/** Writes JSON as `json.dumps` of Python does. */
const inAscii = (text: string): string =>
  inJson(text).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
const inUrl = (text: string): string => encodeURIComponent(text);
const inLowerCaseUrl = (text: string): string =>
  inUrl(text).replace(/%../g, (code) => code.toLowerCase());
const inForm = (text: string): string => new URLSearchParams({ text }).toString();
const LAYERS = [inJson, inAscii, inUrl, inLowerCaseUrl, inForm];

describe("a redactor", () => {
  test.each([
    ["one that another begins with", ["hunter22", "hunter22-production"]],
    ["one inside another", ["prod", "hunter-prod-22"]],
    ["one that another ends with", ["22-production", "hunter22-production"]],
  ])("leaves nothing of the longer of two values: %s", (_what, values) => {
    const longer = values[1]!;

    for (const order of [values, values.toReversed()]) {
      expect(redactor(...order)(`a ${longer} b`)).toBe("a [redacted] b");
    }
  });

  test("leaves nothing of two values that overlap in the text", () => {
    expect(redactor("first-half", "half-second")("x first-half-second x")).toBe("x [redacted] x");
  });

  test("leaves nothing of a value, however often and in which order it was encoded", () => {
    const value = fc
      .string({
        unit: fc.oneof(fc.string({ unit: "grapheme" }), fc.string({ unit: "binary" })),
        maxLength: 12,
      })
      .map((part) => `sec"\\\n ${part}-end`);
    const layers = fc.array(fc.constantFrom(...LAYERS), { maxLength: 3 });

    fc.assert(
      fc.property(value, layers, (secret, applied) => {
        const quoted = applied.reduce((text, encode) => encode(text), `before ${secret} after`);
        const shown = redactor(secret)(quoted);
        expect(shown).toMatch(/before.*\[redacted\].*after/);
        expect(shown).not.toMatch(/sec|end/);
      }),
      { numRuns: 500 },
    );
  });

  test("leaves nothing of a value that was cut off anywhere, in any encoding", () => {
    const secret = 'pass"wörd\\😀\n0123456789';
    for (const encode of [(text: string) => text, ...LAYERS]) {
      const quoted = encode(`said ${secret}`);
      // Three characters of a value are too few to distinguish it from other text.
      const start = quoted.indexOf("pass");
      for (let end = start + "pass".length; end < quoted.length; end++) {
        expect(redactor(secret)(quoted.slice(0, end))).not.toContain("pass");
      }
    }
  });

  test("keeps short values inside words, and texts without a value as they are", () => {
    const text = "100 % of 3 items in C:\\new at %zz, 1\\u00zz";

    expect(redactor("1", "z")(text)).toBe(text);
    expect(redactor("3")(text)).toBe("100 % of [redacted] items in C:\\new at %zz, 1\\u00zz");
  });

  test.each([
    ["a backslash", "no such escape: \\token-1234"],
    ["a percent sign", "bad format %4f-token-1234"],
  ])("leaves nothing of a value that reads like an escape behind %s", (_what, text) => {
    const value = text.includes("%") ? "4f-token-1234" : "token-1234";

    expect(redactor(value)(text)).toBe(text.replace(value, "[redacted]"));
    // Also at the end of a text that was cut off.
    expect(redactor(`${value}-and-more`)(text)).toBe(text.replace(value, "[redacted]"));
  });

  test.each([
    ["backslashes", "\\"],
    ["replacement characters", "\ufffd"],
  ])(
    "reads a long run of %s once, not once for each of them",
    (_what, unit) => {
      expect(redactor("secret-1")(`${unit.repeat(99_990)} secret-1`)).toMatch(/ \[redacted\]$/);
    },
    // Takes milliseconds when read once, and more than ten seconds otherwise.
    5_000,
  );
});
