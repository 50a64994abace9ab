import type * as z from "zod";

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};
const UNITS: Readonly<Record<string, string>> = { array: " entries", string: " characters" };

const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time such as 2026-01-31T12:00:00Z",
  guid: "a UUID",
};

/** Reports whether the text comes from our schemas. Texts of zod begin with one of these words. */
const isOwnText = (message: string): boolean => !/^(Invalid|Too (big|small))\b/.test(message);

const ruleOfType = (expected: string, message: string): string => {
  // zod states the received type only in the text of an issue.
  if (message.endsWith("received undefined")) return "required";
  // `parseRequestJson` returns NaN for a fraction that rounds to an integer.
  if (expected === "number" && message.endsWith("received NaN")) {
    return "a number that needs no rounding";
  }
  // An integer outside the safe range arrives as a bigint or Infinity.
  if (expected === "number" && /received (bigint|-?Infinity)$/.test(message)) {
    return "a number from -9007199254740991 to 9007199254740991";
  }
  const rule = TYPE_NAMES[expected] ?? message;
  return message.endsWith("received null") ? `${rule}, not null` : rule;
};

const ruleOfChoice = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${values[0]}` : `one of ${values.join(", ")}`;

/** The rule that an issue breaks, in words for the author of the input. */
const ruleOf = (issue: z.core.$ZodIssue): string => {
  if (isOwnText(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return ruleOfType(issue.expected, issue.message);
    case "too_small":
      return issue.origin === "string" && issue.minimum === 1
        ? "must not be empty"
        : `at least ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    case "too_big":
      return `at most ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    case "invalid_value":
      return ruleOfChoice(issue.values);
    case "invalid_union":
      return "options" in issue && issue.options ? ruleOfChoice(issue.options) : issue.message;
    case "invalid_format":
      return FORMATS[issue.format] ?? issue.message;
    case "invalid_key":
      return issue.issues.map(ruleOf).join("; ");
    default:
      return issue.message;
  }
};

/** A field of an input and the rule that it breaks. Never contains the value. */
export interface Problem {
  /** Dotted path such as `body.scale.min`; empty for the whole input. */
  readonly path: string;
  readonly rule: string;
}

/** A problem with its path as a list of keys. */
export interface PlacedProblem {
  readonly path: readonly PropertyKey[];
  readonly rule: string;
}

type Issue = z.core.$ZodIssue;

/** Dotted path. The sender chooses field names, and half an emoji in one would make the event unreadable. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map(String)
    .join(".")
    .replaceAll(/\p{Surrogate}/gu, "\ufffd");

const countMissing = (issues: readonly Issue[]): number =>
  issues.filter((issue) => issue.path.length === 1 && ruleOf(issue) === "required").length;

/** Issues of the variant that the input most likely means: the one with the fewest missing fields. */
const closestOf = (shapes: readonly (readonly Issue[])[]): readonly Issue[] =>
  [...shapes].sort((a, b) => countMissing(a) - countMissing(b) || a.length - b.length)[0] ?? [];

/** Lists every offending field of a failed parse; each unknown field is a problem of its own. */
export const placedProblemsOf = (
  issues: readonly Issue[],
  prefix: readonly PropertyKey[] = [],
): readonly PlacedProblem[] =>
  issues.flatMap((issue): readonly PlacedProblem[] => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...path, key], rule: "unknown field" }));
    }
    const isUnion = issue.code === "invalid_union" && issue.errors.length > 0;
    return isUnion && !isOwnText(issue.message)
      ? placedProblemsOf(closestOf(issue.errors), path)
      : [{ path, rule: ruleOf(issue) }];
  });

/** As `placedProblemsOf`, with the path as dotted text. */
export const problemsOf = (
  issues: readonly Issue[],
  prefix: readonly PropertyKey[] = [],
): readonly Problem[] =>
  placedProblemsOf(issues, prefix).map(({ path, rule }) => ({ path: pathText(path), rule }));

/** Problems in one line: `params.name: required; body: must be an object`. */
export const problemsText = (problems: readonly Problem[]): string =>
  problems.map(({ path, rule }) => (path === "" ? rule : `${path}: ${rule}`)).join("; ");
