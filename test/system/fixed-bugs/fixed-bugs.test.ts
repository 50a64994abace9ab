import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FIXED_BUGS, FIXES, withoutFix } from "./fixed-bugs.ts";

/** Every line under a heading "Fixed" of the change log, without its line breaks. */
const fixedLines = (): readonly string[] =>
  readFileSync("CHANGELOG.md", "utf8")
    .split(/^##+ /m)
    .filter((section) => section.startsWith("Fixed\n"))
    .flatMap((section) => section.split(/^- /m).slice(1))
    .map((line) => line.replaceAll(/\s+/g, " "));

test("every fixed bug of the change log is in the list, and no other", () => {
  const lines = fixedLines();
  const isOf = (line: string) => (bug: { readonly entry: string }) => line.startsWith(bug.entry);

  expect(lines.filter((line) => !FIXED_BUGS.some(isOf(line)))).toEqual([]);
  const found = FIXED_BUGS.map((bug) => lines.filter((line) => isOf(line)(bug)).length);
  expect(FIXED_BUGS.filter((_, index) => found[index] !== 1)).toEqual([]);
});

test.each(FIXES)("the fix and its test exist: $entry ($file)", (fix) => {
  expect(withoutFix(fix)).not.toBe(readFileSync(fix.file, "utf8"));
  const declared = fix.declared ?? fix.test;
  const isThere = readFileSync(declared, "utf8").includes(fix.name);
  expect(isThere, `${declared} has no test "${fix.name}"`).toBe(true);
});
