import type * as z from "zod";
import { isOwnText, ruleOf } from "./problem-rule.ts";

/** One thing that is wrong with an input: where, and the rule it breaks. Never the value itself. */
export interface Problem {
  /** Dotted path such as `body.scale.min`; empty for the input as a whole. */
  readonly path: string;
  readonly rule: string;
}

/** A problem whose path is not yet text. */
export interface PlacedProblem {
  readonly path: readonly PropertyKey[];
  readonly rule: string;
}

type Issue = z.core.$ZodIssue;

/** Field names are the sender's: what has no UTF-8 form would spoil the event that carries it. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map(String)
    .join(".")
    .replaceAll(/\p{Surrogate}/gu, "\ufffd");

const countMissing = (issues: readonly Issue[]): number =>
  issues.filter((issue) => issue.path.length === 1 && ruleOf(issue) === "required").length;

/** Of several allowed shapes the one that was most likely meant: least of it is missing. */
const closestOf = (shapes: readonly (readonly Issue[])[]): readonly Issue[] =>
  [...shapes].sort((a, b) => countMissing(a) - countMissing(b) || a.length - b.length)[0] ?? [];

/** Finds every offending field of a failed parse, unknown fields one by one. */
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

/** Names every offending field of a failed parse, unknown fields one by one. */
export const problemsOf = (
  issues: readonly Issue[],
  prefix: readonly PropertyKey[] = [],
): readonly Problem[] =>
  placedProblemsOf(issues, prefix).map(({ path, rule }) => ({ path: pathText(path), rule }));
