import type { PlacedProblem } from "../../contract/problem.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { readAlternatives } from "./alternatives.ts";
import { createLookup, type FieldTree, fieldTreeOf, fits } from "./match.ts";

/** The most that EventBridge takes; its quota is 2048 until an account asks for more. */
const MAX_CHARACTERS = 4096;

const SIZE_RULE = `at most ${MAX_CHARACTERS} characters`;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
};

const isJsonLeaf = (value: unknown): boolean =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

/** Each takes two characters at least, of which one may be a comma or a bracket. */
const MAX_VALUES = MAX_CHARACTERS / 2 + 1;

/** Reports what is no JSON, or too long. Goes no further than a pattern may: the value may be endless. */
const problemOf = (raw: unknown): PlacedProblem | undefined => {
  const open: { readonly value: unknown; readonly path: readonly PropertyKey[] }[] = [
    { value: raw, path: [] },
  ];
  for (const { value, path } of open) {
    if (open.length > MAX_VALUES) return { path: [], rule: SIZE_RULE };
    if (typeof value === "object" && value !== null && isPlain(value)) {
      const names = Array.isArray(value) ? value.slice(0, MAX_VALUES).keys() : Object.keys(value);
      for (const name of names) {
        open.push({ value: Reflect.get(value, name), path: [...path, name] });
      }
    } else if (!isJsonLeaf(value)) return { path, rule: "plain JSON data" };
  }
  return JSON.stringify(raw).length > MAX_CHARACTERS ? { path: [], rule: SIZE_RULE } : undefined;
};

const isJsonObject = (raw: unknown): raw is JsonObject =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw);

/** An event pattern that EventBridge takes. Other modules read `source` only. */
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
  const problem = problemOf(raw);
  if (problem) return { kind: "invalid", problems: [problem] };
  if (!isJsonObject(raw)) return { kind: "invalid", problems: [{ path: [], rule: "an object" }] };
  const modern = readAlternatives(raw, true);
  // A pattern in which `$or` cannot stand for alternatives is one in which it is a field, or wrong.
  const { alternatives, problems } =
    modern.problems.length > 0 ? readAlternatives(raw, false) : modern;
  return problems.length > 0
    ? { kind: "invalid", problems: modern.problems }
    : { kind: "valid", pattern: { source: raw, alternatives: alternatives.map(fieldTreeOf) } };
};

/** Whether EventBridge would pass the event to a rule with this pattern. */
export const matchesPattern = (pattern: EventPattern, event: JsonObject): boolean => {
  const lookup = createLookup();
  return pattern.alternatives.some((tree) => fits(tree, event, lookup));
};

const nameOf = ({ steps }: { readonly steps: readonly string[] }): string => steps.join(".");

/** Fields that keep an event from one alternative; of fields that match only apart, all of them. */
const mismatchesIn = (tree: FieldTree, event: JsonObject): readonly string[] => {
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
export const mismatchedFields = (pattern: EventPattern, event: JsonObject): readonly string[] =>
  pattern.alternatives
    .map((tree) => mismatchesIn(tree, event))
    .reduce((fewest, mismatched) => (mismatched.length < fewest.length ? mismatched : fewest));

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
