import type * as z from "zod";

/** One thing that is wrong with an input: where, and the rule it breaks. Never the value itself. */
export interface Problem {
  /** Dotted path such as `body.scale.min`; empty for the input as a whole. */
  readonly path: string;
  readonly rule: string;
}

const fieldRule = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_type" && issue.message.endsWith("received undefined")
    ? "required"
    : issue.message;

/** Names every offending field of a failed parse, unknown fields one by one. */
export const problemsOf = (
  issues: readonly z.core.$ZodIssue[],
  prefix: readonly PropertyKey[] = [],
): readonly Problem[] =>
  issues.flatMap((issue): readonly Problem[] => {
    const path = [...prefix, ...issue.path];
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          path: [...path, key].map(String).join("."),
          rule: "unknown field",
        }))
      : [{ path: path.map(String).join("."), rule: fieldRule(issue) }];
  });
