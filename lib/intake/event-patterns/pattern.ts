import type { PlacedProblem } from "../../contract/problem.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
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

const nameOf = ({ steps }: { readonly steps: readonly string[] }): string => steps.join(".");

/** Fields that keep an event from one alternative; of fields that match only apart, all of them. */
const unfitIn = (tree: FieldTree, event: JsonObject): readonly string[] => {
  const lookup = createLookup();
  const alone = tree.below.filter(
    (each) => !fits(fieldTreeOf(new Map([[nameOf(each), each.field]])), event, lookup),
  );
  // Each field matches in some element of a list, but they match together in none.
  const apart = tree.below.filter(({ steps }) => {
    const top = tree.children.get(steps[0] ?? "");
    return top !== undefined && !fits(top, lookup(event, steps[0] ?? ""), lookup);
  });
  return (alone.length > 0 ? alone : apart).map(nameOf);
};

/**
 * Names the fields on which an event does not match, dotted as in `detail.state`. Of the alternatives
 * of `$or`, those of the alternative with the fewest.
 */
export const unfitFields = (pattern: EventPattern, event: JsonObject): readonly string[] =>
  pattern.alternatives
    .map((tree) => unfitIn(tree, event))
    .reduce((fewest, unfit) => (unfit.length < fewest.length ? unfit : fewest));

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
