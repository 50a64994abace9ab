import type { PlacedProblem } from "../contract/problem.ts";
import type { JsonObject } from "../ports/ledger.ts";
import { readAlternatives } from "./alternatives.ts";
import { createLookup } from "./event-fields.ts";
import { type FieldTree, fieldTreeOf } from "./field-tree.ts";
import { fits } from "./fits.ts";
import { readSource } from "./source.ts";

/** An event pattern that EventBridge takes. Only `source` is for others to look at. */
export interface EventPattern {
  /** The pattern as it was given. */
  readonly source: JsonObject;
  readonly alternatives: readonly FieldTree[];
}

export type PatternReading =
  | { readonly kind: "valid"; readonly pattern: EventPattern }
  | { readonly kind: "invalid"; readonly problems: readonly PlacedProblem[] };

/**
 * Reads an EventBridge event pattern by the rules of an event bus (user guide, "Comparison operators
 * for use in event patterns", and the open source Event Ruler that EventBridge runs on). Problems
 * come with their path into the pattern, and none quotes a value.
 */
export const readPattern = (raw: unknown): PatternReading => {
  const read = readSource(raw);
  if (read.kind === "invalid") return { kind: "invalid", problems: [read.problem] };
  const { source } = read;
  const modern = readAlternatives(source, true);
  // A pattern in which `$or` cannot stand for alternatives is one in which it is a field, or wrong.
  const { alternatives, problems } =
    modern.problems.length > 0 ? readAlternatives(source, false) : modern;
  return problems.length > 0
    ? { kind: "invalid", problems: modern.problems }
    : { kind: "valid", pattern: { source, alternatives: alternatives.map(fieldTreeOf) } };
};

/** Whether EventBridge would pass the event to a rule with this pattern. */
export const matchesPattern = (pattern: EventPattern, event: JsonObject): boolean => {
  const lookup = createLookup();
  return pattern.alternatives.some((tree) => fits(tree, event, lookup));
};

/**
 * Whether an event with this text at the top-level field could match: so it is also where the
 * pattern asks nothing of the field, or asks it in one of several alternatives only.
 */
export const couldMatchField = (pattern: EventPattern, field: string, value: string): boolean => {
  const lookup = createLookup();
  return pattern.alternatives.some((tree) => {
    const asked = tree.children.get(field);
    return asked === undefined || fits(asked, value, lookup);
  });
};
