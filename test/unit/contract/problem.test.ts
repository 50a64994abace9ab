import { expect, test } from "vitest";
import * as z from "zod";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { problemsOf } from "../../../lib/contract/problem.ts";

const problemsIn = (schema: z.ZodType, value: unknown, prefix: readonly string[] = []) =>
  problemsOf(schema.safeParse(value).error?.issues ?? [], prefix);

test("all problems of a request are reported together, one per line", () => {
  const body = {
    commands: 5,
    description: "d".repeat(256),
    envs: { GOOD: "1", BAD: 1, WORSE: null },
    flavor: "big",
    image: "i".repeat(231),
    is_api_key_auth: true,
    is_disabled: "yes",
    listening_port: 0,
    logging: { retention_policy: { period: 0 }, topic_name: "-", level: "debug" },
    pull_secret: ["s3cret"],
    scale: { min: 3, max: 2, triggers: { http: { rate: 1.5, window: 3601 } }, cpu: 5 },
    timeout: 181,
    colour: "red",
    size: "large",
  };

  const encoded = z.safeEncode<z.ZodType>(updateContainer.body, body);

  const lines = problemsOf(encoded.error?.issues ?? [], ["body"]).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );
  expect(lines.join("\n")).toBe(
    `
body.commands: a string
body.description: at most 255 characters
body.envs.BAD: a string
body.envs.WORSE: a string, not null
body.flavor: a size such as 250mCPU-512MiB
body.image: at most 230 characters
body.is_api_key_auth: enabling key authentication is temporarily unavailable
body.is_disabled: true or false
body.listening_port: at least 1
body.logging.retention_policy.period: at least 1
body.logging.topic_name: 1 to 223 characters: dot-separated labels of a-z, 0-9 and inner hyphens
body.logging.level: unknown field
body.pull_secret: a string
body.scale.min: must not exceed max
body.scale.triggers.http.rate: a whole number
body.scale.triggers.http.window: at most 3600
body.scale.cpu: unknown field
body.timeout: at most 180
body.colour: unknown field
body.size: unknown field
`.trim(),
  );
});

test("in an object with cross-field rules, wrong types are reported before wrong values", () => {
  const body = { scale: { min: "1", max: 26 } };

  const encoded = z.safeEncode<z.ZodType>(updateContainer.body, body);

  expect(problemsOf(encoded.error?.issues ?? [])).toEqual([
    { path: "scale.min", rule: "a number" },
  ]);
});

test("the problem of a number that JSON parsers would round is the range of exact ones", () => {
  expect(problemsIn(updateContainer.params.shape.project_id, 9007199254740993n)).toEqual([
    { path: "", rule: "a number from -9007199254740991 to 9007199254740991" },
  ]);
});

test.each([
  [z.string(), undefined, "required"],
  [z.string(), null, "a string, not null"],
  [z.int(), 1.5, "a whole number"],
  [z.int(), 2 ** 53, "at most 9007199254740991"],
  [z.number(), Number.NaN, "a number that needs no rounding"],
  [z.int(), Number.POSITIVE_INFINITY, "a number from -9007199254740991 to 9007199254740991"],
  [z.number().min(-1.5), -2, "at least -1.5"],
  [z.string().min(1), "", "must not be empty"],
  [z.string().min(3), "ab", "at least 3 characters"],
  [z.string().max(3), "abcd", "at most 3 characters"],
  [z.array(z.int()).max(1), [1, 2], "at most 1 entries"],
  [z.enum(["a", "b"]), "c", "one of a, b"],
  [z.literal("a"), "b", "must be a"],
  [z.guid(), "x", "a UUID"],
  [z.string().refine(() => false, { error: "our own text" }), "x", "our own text"],
])("%# a problem states its rule in words: %3$s", (schema, value, rule) => {
  expect(problemsIn(schema, value)).toEqual([{ path: "", rule }]);
});

test("every unknown field is a problem with its own path", () => {
  const schema = z.strictObject({ a: z.strictObject({ b: z.int().optional() }) });

  expect(problemsIn(schema, { a: { c: 1, "d.e": 2 }, f: 3 }, ["body"])).toEqual([
    { path: "body.a.c", rule: "unknown field" },
    { path: "body.a.d.e", rule: "unknown field" },
    { path: "body.f", rule: "unknown field" },
  ]);
});

test("the problem of an invalid key in a map states the rule of the key", () => {
  const schema = z.record(z.string().min(2), z.string());

  expect(problemsIn(schema, { a: "x" })).toEqual([{ path: "a", rule: "at least 2 characters" }]);
});

test("a field name that is not well-formed Unicode contains a replacement character", () => {
  expect(problemsIn(z.strictObject({}), { "a\ud800": 1 })).toEqual([
    { path: "a\ufffd", rule: "unknown field" },
  ]);
});

test("no problem contains a value", () => {
  const body = { envs: { A: { deep: "s3cret" } }, pull_secret: { name: "s3cret" }, image: 5 };

  expect(JSON.stringify(problemsIn(updateContainer.body, body))).not.toContain("s3cret");
});
