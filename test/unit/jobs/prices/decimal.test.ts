import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { percentChange } from "../../../../lib/jobs/prices/change.ts";
import { decimalText } from "../../../../lib/jobs/prices/reading.ts";

describe("the text of a decimal number", () => {
  test.each<[number | string, string]>([
    ["0.10", "0.1"],
    [0.1, "0.1"],
    ["10.00", "10"],
    ["007.5", "7.5"],
    [1e-7, "0.0000001"],
    [1e21, "1000000000000000000000"],
    [0, "0"],
    [-0, "0"],
    ["-0.000", "0"],
    ["-1.50", "-1.5"],
    [0.1 + 0.2, "0.30000000000000004"],
    [0.08333333333333333, "0.08333333333333333"],
    ["0.123456789012345678", "0.123456789012345678"],
    ["123456789012345678.90", "123456789012345678.9"],
  ])("of %j is %s", (value, text) => {
    expect(decimalText(value)).toBe(text);
  });

  test("does not depend on superfluous zeros", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n }), fc.nat(20), fc.nat(5), (digits, places, zeros) => {
        const text = String(digits).padStart(places + 1, "0");
        const point = text.length - places;
        const decimal = `${text.slice(0, point)}.${text.slice(point)}0`;

        expect(decimalText(decimal)).toBe(
          decimalText(`${"0".repeat(zeros)}${decimal}${"0".repeat(zeros)}`),
        );
      }),
    );
  });

  test("parses to the number that it was made of", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }), (value) => {
        expect(Number(decimalText(value))).toBe(value);
        expect(decimalText(value)).toMatch(/^-?\d+(\.\d*[1-9])?$/);
      }),
    );
  });
});

describe("a change in percent", () => {
  test.each<[string, string, string | null]>([
    ["100", "112.5", "12.50"],
    ["100", "96.9", "-3.10"],
    ["60", "60", "0.00"],
    ["0.1", "0.3", "200.00"],
    ["0.3", "0.1", "-66.67"],
    ["3", "2", "-33.33"],
    ["8", "8.0004", "0.01"],
    ["8", "8.00039", "0.00"],
    ["8", "7.9996", "-0.01"],
    ["8", "7.99961", "0.00"],
    ["200", "200.009999999999999999999999999999", "0.00"],
    ["200", "200.01", "0.01"],
    ["1", "0", "-100.00"],
    ["-2", "-1", "50.00"],
    ["-2", "-3", "-50.00"],
    ["0.000000000000000001", "1", "99999999999999999900.00"],
    ["123456789012345678.1", "123456789012345678.2", "0.00"],
    ["0", "5", null],
    ["0", "0", null],
  ])("from %s to %s is %s", (before, after, percent) => {
    expect(percentChange(before, after)).toBe(percent);
  });

  test("is the nearest hundredth of a percent, rounded half up", () => {
    const cents = fc.bigInt({ min: 1n, max: 10n ** 18n });
    fc.assert(
      fc.property(cents, cents, (before, after) => {
        // In whole numbers: hundredths of a percent are ten thousandths.
        const difference = (after - before) * 10_000n;
        const size = difference < 0n ? -difference : difference;
        const rounded = (2n * size + before) / (2n * before);
        const text = String(rounded).padStart(3, "0");
        const sign = difference < 0n && rounded > 0n ? "-" : "";

        expect(percentChange(`${before}`, `${after}`)).toBe(
          `${sign}${text.slice(0, -2)}.${text.slice(-2)}`,
        );
      }),
    );
  });
});
