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

/** Whether a schema of ours wrote the text; zod's own texts begin with one of these words. */
export const isOwnText = (message: string): boolean =>
  !/^(Invalid|Too (big|small))\b/.test(message);

const ruleOfType = (expected: string, message: string): string => {
  // What was received is not in the issue, only in its text.
  if (message.endsWith("received undefined")) return "required";
  // A number that is an integer by rounding only comes from our JSON reader as NaN.
  if (expected === "number" && message.endsWith("received NaN")) {
    return "a number that is exact without rounding";
  }
  // An integer beyond the safe range comes as a bigint, or as Infinity.
  if (expected === "number" && /received (bigint|-?Infinity)$/.test(message)) {
    return "a number from -9007199254740991 to 9007199254740991";
  }
  const rule = TYPE_NAMES[expected] ?? message;
  return message.endsWith("received null") ? `${rule}, not null` : rule;
};

const ruleOfChoice = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${values[0]}` : `one of ${values.join(", ")}`;

/** What a field has to be, in words for whoever wrote the request. */
export const ruleOf = (issue: z.core.$ZodIssue): string => {
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
