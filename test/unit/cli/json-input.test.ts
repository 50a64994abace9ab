import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJson } from "../../../lib/cli/field-flags.ts";
import { readJsonText } from "../../../lib/cli/json-input.ts";

test.each([
  ["{", "not valid JSON at line 1, column 2"],
  ['{\n  "a": 1,\n  b: 2\n}', "not valid JSON at line 3, column 3"],
  ['{"a": "hush\nhush"}', "not valid JSON at line 1, column 12"],
  ['{"a": 1} x', "not valid JSON at line 1, column 10"],
  ["  \n", "empty, not JSON at line 2, column 1"],
])("the error of %j has the place of the mistake, and nothing of the text", (text, message) => {
  expect(() => readJsonText(text, "event.json")).toThrow(
    expect.objectContaining({ exitCode: 2, message: `event.json: ${message}` }),
  );
});

test("the error of a file names the option and the file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-json-"));
  const file = join(folder, "router.json");
  await writeFile(file, '{\n  "name": }');

  expect(() => readJson(`@${file}`, "--body")).toThrow(
    `--body: ${file}: not valid JSON at line 2, column 11`,
  );
  await rm(folder, { recursive: true });
});
