import { describe, expect, test } from "vitest";
import { functionZip } from "../../../../lib/cli/stage/zip.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const FILES = new Map([
  ["dist/handler.mjs", bytesOf("export const handler = 1;".repeat(100))],
  ["dist/config.json", bytesOf("{}")],
]);

describe("the zip of a function", () => {
  test("has the same bytes and key for the same files in any order", () => {
    const first = functionZip("intake", FILES, "skyhook/dev");
    const second = functionZip("intake", new Map([...FILES].toReversed()), "skyhook/dev");

    expect(second).toEqual(first);
  });

  test("has no time of its files but the earliest one of the format", () => {
    const { bytes } = functionZip("intake", FILES, "skyhook/dev");

    // Time and date of the first local header: 0:00 on 1 January 1980.
    expect([...bytes.subarray(10, 14)]).toEqual([0, 0, 0b00100001, 0]);
  });

  test("has another key for another content", () => {
    const changed = new Map([...FILES, ["dist/config.json", bytesOf("[]")]]);

    const one = functionZip("intake", FILES, "skyhook/dev");
    const other = functionZip("intake", changed, "skyhook/dev");

    expect(one.key).toMatch(/^skyhook\/dev\/intake-[0-9a-f]{16}\.zip$/);
    expect(other.key).not.toBe(one.key);
  });
});
