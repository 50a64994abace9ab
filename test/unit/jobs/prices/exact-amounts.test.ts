import { describe, expect, test } from "vitest";
import { GPU } from "./price-world.ts";
import { readingOfText } from "./read-price.ts";

describe("an amount", () => {
  /** A GPU server's price, with the hourly amount in this notation. */
  const hourOf = async (written: string) => {
    const text = `{"currency_code":"EUR","discount_percent":null,"price_per_hour":${written},"price_per_month":1,"price_status":"show","price_without_discount_per_month":1,"tax_percent":17.1234567890123456789}`;
    return (await readingOfText(GPU, text)).amounts["total.per_hour"];
  };

  test.each([
    ["0.1", "0.1"],
    ["0.10", "0.1"],
    ['"0.10"', "0.1"],
    ["0.30000000000000004", "0.30000000000000004"],
    ["0.3", "0.3"],
    ["1e-7", "0.0000001"],
    ["1E+2", "100"],
    ["-0", "0"],
    ["0.08333333333333333333333333333", "0.08333333333333333333333333333"],
    ["0.123456789012345678", "0.123456789012345678"],
    ['"0.123456789012345678"', "0.123456789012345678"],
    ["123456789012345678.25", "123456789012345678.25"],
    ["9007199254740993", "9007199254740993"],
    ["18446744073709551615", "18446744073709551615"],
    ["null", null],
  ])("written as %s is read as %s, to the last digit", async (written, text) => {
    expect(await hourOf(written)).toBe(text);
  });

  test("that floating point would confuse with another one is a change", async () => {
    expect(await hourOf("0.1000000000000000001")).not.toBe(await hourOf("0.1000000000000000002"));
  });
});
