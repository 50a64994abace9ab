import { expect, test } from "vitest";
import { isMatch, problemsOf } from "./pattern-of.ts";

const cidr = (operand: unknown): object => ({ a: [{ cidr: operand }] });

test.each([
  ["10.0.0.0/24", "10.0.0.0", true],
  ["10.0.0.0/24", "10.0.0.255", true],
  ["10.0.0.0/24", "10.0.1.0", false],
  ["10.0.0.77/24", "10.0.0.1", true],
  ["10.0.0.0/8", "10.255.255.255", true],
  ["10.0.0.0/8", "11.0.0.0", false],
  ["0.0.0.0/0", "255.255.255.255", true],
  ["0.0.0.0/0", "::1", false],
  ["192.0.2.2/31", "192.0.2.3", true],
  ["192.0.2.2/31", "192.0.2.4", false],
  ["10.0.0.0/8", "10.0.0", false],
  ["10.0.0.0/8", "10.0.0.256", false],
  ["10.0.0.0/8", "10.0.0.0/8", false],
  ["10.0.0.0/8", " 10.0.0.1", false],
  ["10.0.0.0/8", "10.0.0.1.", false],
  ["10.0.0.0/8", "", false],
  ["2001:db8::/32", "2001:db8:ffff::1", true],
  ["2001:db8::/32", "2001:0DB8:1:2:3:4:5:6", true],
  ["2001:db8::/32", "2001:db9::", false],
  ["::/0", "fe80::1", true],
  ["::/0", "10.0.0.1", false],
  ["::1:0/112", "::1:ffff", true],
  ["::1:0/112", "::2:0", false],
  ["2001:db8::/32", "2001:db8:::1", false],
  ["2001:db8::/32", "2001:db8::1::2", false],
  ["2001:db8::/32", "2001:db8:1:2:3:4:5", false],
  ["2001:db8::/32", "2001:db8:1:2:3:4:5:6:7", false],
  ["2001:db8::/32", "2001:db8::12345", false],
  ["10.0.0.0/8", "::ffff:a00:1", true],
])("%s and %s: %j", (block, address, expected) => {
  expect(isMatch(cidr(block), { a: address })).toBe(expected);
});

test("a number is not an address", () => {
  expect(isMatch(cidr("0.0.0.0/0"), { a: 167772161 })).toBe(false);
});

test.each([
  "foo",
  "10.0.0.0",
  "10.0.0.0/",
  "10.0.0.0/x",
  "10.0.0.0/-1",
  "10.0.0.0/8/8",
  "10.0.0.0/32",
  "10.0.0/8",
  "10.0.0.256/8",
  "/8",
  "2001:db8::/128",
  "2001:db8::/129",
  "2001:db8::g/32",
  "",
  7,
  null,
  ["10.0.0.0/8"],
])("%j is refused as a CIDR block, as by Ruler", (operand) => {
  expect(problemsOf(cidr(operand))).toEqual([
    "a.0.cidr: must be a CIDR block of more than one address, such as 10.0.0.0/8 or 2001:db8::/32",
  ]);
});
