import { expect, test } from "vitest";
import * as z from "zod";
import { readConfig } from "../../../lib/config/config-file.ts";

const schema = z.strictObject({
  list: z.array(
    z.strictObject({ name: z.string(), count: z.union([z.number(), z.bigint()]).optional() }),
  ),
  on: z.boolean().optional(),
});

const linesOf = (text: string) => {
  const read = readConfig(schema, text);
  return read.kind === "valid" ? [] : read.problems.map(({ path, line }) => [path, line]);
};

test("integers of any size are exact, in YAML and in JSON", () => {
  const yaml = readConfig(schema, "list:\n  - name: a\n    count: 18446744073709551615\n");
  const json = readConfig(
    schema,
    '{\n\t"list": [{ "name": "a", "count": 18446744073709551615 }]\n}',
  );

  const value = { list: [{ name: "a", count: 18446744073709551615n }] };
  expect(yaml).toEqual({ kind: "valid", value });
  expect(json).toEqual({ kind: "valid", value });
});

test("integers up to 2^53-1 are numbers", () => {
  expect(readConfig(schema, "list: [{ name: a, count: 9007199254740991 }]")).toEqual({
    kind: "valid",
    value: { list: [{ name: "a", count: 9007199254740991 }] },
  });
});

test("every problem has the line of its field, in the order of the file", () => {
  const text = `on: maybe
list:
  - name: 5

    colour: red
  - { name: a, count: many }
  - count: 1
unknown: 1
`;

  expect(linesOf(text)).toEqual([
    ["on", 1],
    ["list.0.name", 3],
    ["list.0.colour", 5],
    ["list.1.count", 6],
    ["list.2.name", 7],
    ["unknown", 8],
  ]);
});

test.each([
  ["nothing", ""],
  ["white space", " \n\n"],
  ["a comment", "# list: []\n"],
  ["null", "null\n"],
  ["the start of a document", "---\n"],
])("%s is an empty file", (_what, text) => {
  expect(readConfig(schema, text)).toEqual({
    kind: "invalid",
    problems: [{ path: "", rule: "the file is empty", line: 1 }],
  });
});

test.each([
  ["a key twice", "list: []\non: true\non: false\n", 3],
  ["a key twice, once as a number", "list: []\n1: a\n'1': b\n", 3],
  ["two documents", "list: []\n---\nlist: []\n", 2],
  ["a tab as indentation", "list:\n\t- name: a\n", 2],
  ["an unknown tag", "list: []\non: !maybe yes\n", 2],
  ["a list that does not end", "list: [\n", 2],
])("%s is reported with its line", (_what, text, line) => {
  const read = readConfig(schema, text);

  expect(read).toMatchObject({ kind: "invalid", problems: [{ path: "", line }] });
});

test.each([
  ["leads nowhere", "list: *nowhere\n"],
  ["leads to itself", "list: &a [*a]\n"],
  [
    "expands beyond the memory limit",
    `a: &a [x,x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e", "f"]
      .map((name, n) => `${name}: &${name} [${`*${"abcde"[n]},`.repeat(10)}]\n`)
      .join("")}list: *f\n`,
  ],
])("an alias that %s is reported as a problem", (_what, text) => {
  const read = readConfig(schema, text);

  expect(read).toMatchObject({ kind: "invalid", problems: [{ path: "" }] });
});

test("deep nesting is one problem with a short message, not an exception", () => {
  const read = readConfig(schema, "[".repeat(20_000));

  expect(read.kind).toBe("invalid");
  expect(read.kind === "invalid" && read.problems.length).toBeLessThan(5);
});

test.each([
  ["010", 10],
  ["0x10", 16],
  ["5", 5],
  ["18446744073709551615", 18446744073709551615n],
])("a whole number written as %s is read as one", (text, count) => {
  expect(readConfig(schema, `list: [{ name: a, count: ${text} }]`)).toEqual({
    kind: "valid",
    value: { list: [{ name: "a", count }] },
  });
});

test.each(["9007199254740991.4", "1.00000000000000000001", "1e3", "5.0"])(
  "%s is not taken for a whole number: it may have been rounded to one",
  (text) => {
    expect(linesOf(`list: [{ name: a, count: ${text} }]`)).toEqual([["list.0.count", 1]]);
  },
);

test("only YAML 1.2 is read, in which 010 is ten and yes is a word", () => {
  expect(readConfig(schema, "%YAML 1.1\n---\nlist: []\n")).toEqual({
    kind: "invalid",
    problems: [
      {
        path: "",
        rule: "not readable as YAML: only YAML 1.2 is supported; remove the %YAML line",
        line: 1,
      },
    ],
  });
  expect(readConfig(schema, "%YAML 1.2\n---\nlist: []\n").kind).toBe("valid");
});

test("the first thousand problems are reported, with the lines of duplicate keys", () => {
  const many = readConfig(
    schema,
    `list: []\n${Array.from({ length: 5_000 }, (_, n) => `k${n}: 1\n`).join("")}`,
  );
  const twice = readConfig(schema, `list: []\n${"on: true\n".repeat(3)}`);

  expect(many.kind === "invalid" && many.problems.length).toBe(1_000);
  expect(twice).toEqual({
    kind: "invalid",
    problems: [3, 4].map((line) => ({
      path: "",
      rule: 'not readable as YAML: duplicate key "on"',
      line,
    })),
  });
});

test("parser messages about its own functions are replaced", () => {
  const texts = ["a: 1\n---\nb: 1\n", "[".repeat(20_000), "list: &a [*a]\n"];

  for (const text of texts) {
    expect(JSON.stringify(readConfig(schema, text))).not.toMatch(/YAML\.|call stack/);
  }
});

test("a merge key is an ordinary field: nothing is merged", () => {
  expect(linesOf("base: &b { name: a }\nlist:\n  - <<: *b\n")).toContainEqual(["list.0.<<", 3]);
});

test("a file beyond the size limit is not read", () => {
  expect(readConfig(schema, `list: []\n#${"x".repeat(500_000)}`)).toEqual({
    kind: "invalid",
    problems: [{ path: "", rule: "the file is larger than 500000 bytes" }],
  });
});

test("cross-field rules run even when a single field is invalid", () => {
  const read = readConfig(schema, "on: maybe\nlist: []\n", () => [
    { path: ["list"], rule: "too few" },
  ]);

  expect(read).toEqual({
    kind: "invalid",
    problems: [
      { path: "on", rule: "true or false", line: 1 },
      { path: "list", rule: "too few", line: 2 },
    ],
  });
});

test.each([
  "list: [{ name: { a: secret-word } }]\n",
  "on: [secret-word\n",
  "list: []\n`secret-word` | secret-word\n",
  "list: []\non: !secret-word 1\n",
  "list: *secret-word\n",
  "list: []\non: secret-word\n",
  "| secret-word | secret-word |\n|---|\n",
])("a problem never quotes a value: %j", (text) => {
  const read = readConfig(schema, text);

  expect(read.kind).toBe("invalid");
  expect(JSON.stringify(read)).not.toContain("secret-word");
});

test("a file of another type has a few problems, not one for every line", () => {
  const read = readConfig(
    schema,
    "# A title\n\nSome *text*: `code`: more | and | more\n".repeat(100),
  );

  expect(read.kind === "invalid" && read.problems.length).toBeLessThanOrEqual(10);
});
