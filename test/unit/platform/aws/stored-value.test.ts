import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  fromStoredValue,
  storedBytes,
  toStoredValue,
} from "../../../../lib/platform/aws/stored-value.ts";
import { incompressible } from "../../../support/incompressible.ts";

/** The attribute as DynamoDB returns it: what was sent, as JSON. */
const returned = (value: Parameters<typeof toStoredValue>[0]) =>
  JSON.parse(JSON.stringify(toStoredValue(value)));

describe("the stored value of an item", () => {
  test("is its JSON text up to 600 bytes", () => {
    const value = { text: "€".repeat(196) };

    expect(returned(value)).toEqual({ S: JSON.stringify(value) });
    expect(storedBytes(value)).toBe(599);
  });

  test("is compressed from then on, and counts with fewer bytes", () => {
    const value = { text: "€".repeat(197) };

    expect(returned(value)).toEqual({ B: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) });
    expect(storedBytes(value)).toBe(Buffer.from(returned(value).B, "base64").length);
    expect(storedBytes(value)).toBeLessThan(100);
  });

  test("of random text is compressed to its content", () => {
    expect(storedBytes({ text: incompressible(900) })).toBeLessThan(1_000);
  });

  test("is read as it was written, at any length", () => {
    const value = fc.dictionary(
      fc.string(),
      fc.jsonValue().map((json) => JSON.parse(JSON.stringify(json))),
      {
        maxKeys: 60,
      },
    );
    fc.assert(
      fc.property(value, (written) => {
        expect(fromStoredValue(returned(written))).toEqual(JSON.parse(JSON.stringify(written)));
      }),
    );
  });

  test("is read as a text of any length, as earlier versions wrote it", () => {
    const value = { text: "x".repeat(5_000) };

    expect(fromStoredValue({ S: JSON.stringify(value) })).toEqual(value);
  });
});
