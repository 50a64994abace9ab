import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type * as Yaml from "yaml";
import * as tested from "yaml";

/** Build of the parser that infra/build.mjs bundles for Lambda. */
const BUNDLED = join(resolve("node_modules"), "yaml", "browser", "index.js");

const TEXTS = [
  "prune: true\nthresholds:\n  - { name: a, bytes: 18446744073709551615 } # ü\n",
  '{"thresholds": [{"name": "a", "count": 9007199254740993}]}',
  "a: 0x10\nb: 0o17\nc: 1e3\nd: 1.50\ne: ~\nf: yes\ng: 2026-01-01\n",
  "a: &x [1]\nb: *x\n",
  "a: 1\na: 2\n",
  "a: [\n",
  "\ta: 1\n",
  "a: !odd 1\n",
  "a: *nowhere\n",
  "",
];

const readBy = (yaml: typeof Yaml, text: string) => {
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    intAsBigInt: true,
    lineCounter: lines,
    prettyErrors: false,
  });
  const flaws = [...document.errors, ...document.warnings].map(({ message, pos }) => [
    message,
    lines.linePos(pos[0]),
  ]);
  try {
    return { flaws, content: document.toJS() };
  } catch (error) {
    return { flaws, error: String(error) };
  }
};

test.each(TEXTS)("the parser in the bundles reads %j like the parser in tests", async (text) => {
  const bundled = (await import(pathToFileURL(BUNDLED).href)) as typeof Yaml;

  expect(readBy(bundled, text)).toEqual(readBy(tested, text));
});
