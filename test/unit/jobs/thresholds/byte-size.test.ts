import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatByteSize } from "../../../../lib/jobs/thresholds/byte-size.ts";
import { parseByteSize } from "../../../../lib/jobs/thresholds/config.ts";

test.each([
  ["0", "0"],
  ["1", "1"],
  ["500 GiB", "536870912000"],
  ["500GiB", "536870912000"],
  ["1.5 TiB", "1649267441664"],
  ["1 kB", "1000"],
  ["1 KiB", "1024"],
  ["2 EB", "2000000000000000000"],
  ["7 B", "7"],
  ["0.5 KiB", "512"],
  ["18446744073709551615", "18446744073709551615"],
  ["15.99999999999999999 EB", "15999999999999999990"],
])("%s is %s bytes", (text, bytes) => {
  expect(parseByteSize(text)).toBe(bytes);
});

test.each([
  "",
  "GiB",
  "-1",
  "+1",
  "1e3",
  "0x10",
  "1,5 GiB",
  "1 gib",
  "1 KB",
  "1  GiB",
  "1 GiB ",
  ".5 GiB",
  "1. GiB",
  "0.3 KiB",
  "1.5 B",
  "16 EiB",
  "18446744073709551616",
  "99999999999999999999999",
  "1 __proto__",
  "1 constructor",
])("%j is not a size in bytes", (text) => {
  expect(parseByteSize(text)).toBeUndefined();
});

test.each([
  ["0", "0"],
  ["500", "500"],
  ["536870912000", "500 GiB"],
  ["1649267441664", "1536 GiB"],
  ["1000000000", "1000000000"],
  ["18446744073709551615", "18446744073709551615"],
])("%s bytes are written as %s", (bytes, text) => {
  expect(formatByteSize(bytes)).toBe(text);
});

test("every formatted size parses to the same number", () => {
  void fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(6), (bytes, shift) => {
      const rounded = String((bytes >> BigInt(10 * shift)) << BigInt(10 * shift));

      expect(parseByteSize(formatByteSize(rounded))).toBe(rounded);
    }),
  );
});
