import type { PlacedProblem } from "../../contract/problem.ts";
import type { JsonObject } from "../../platform/ports/ledger.ts";
import { readAlternatives } from "./alternatives.ts";
import { createLookup, type FieldTree, fieldTreeOf, fits } from "./match.ts";

/** Upper limit of EventBridge; its default quota is 2048, and an AWS account may request more. */
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

/** Limit of values in a pattern: each takes at least two characters, with its comma or bracket. */
const MAX_VALUES = MAX_CHARACTERS / 2 + 1;

/** Reports values that are not JSON or too long. Stops at the limits, because the value may be cyclic. */
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
    } else if (!isJsonLeaf(value)) return { path, rule: "must be plain JSON" };
  }
  return JSON.stringify(raw).length > MAX_CHARACTERS ? { path: [], rule: SIZE_RULE } : undefined;
};

const isJsonObject = (raw: unknown): raw is JsonObject =>
  typeof raw === "object" && raw !== null && !Array.isArray(raw);

/** A valid EventBridge event pattern. Other modules read `source` only. */
export interface EventPattern {
  /** The pattern as written. */
  readonly source: JsonObject;
  readonly alternatives: readonly FieldTree[];
}

export type PatternReading =
  | { readonly kind: "valid"; readonly pattern: EventPattern }
  | { readonly kind: "invalid"; readonly problems: readonly PlacedProblem[] };

/**
 * Reads an EventBridge event pattern by the rules of an event bus (user guide, "Comparison operators
 * for use in event patterns", and the open source Event Ruler, on which EventBridge runs). Problems
 * have a path into the pattern and never quote a value.
 */
export const readPattern = (raw: unknown): PatternReading => {
  const problem = problemOf(raw);
  if (problem) return { kind: "invalid", problems: [problem] };
  if (!isJsonObject(raw))
    return { kind: "invalid", problems: [{ path: [], rule: "must be an object" }] };
  const modern = readAlternatives(raw, true);
  // If `$or` is invalid as alternatives, it may be the name of a field, as in older patterns.
  const { alternatives, problems } =
    modern.problems.length > 0 ? readAlternatives(raw, false) : modern;
  return problems.length > 0
    ? { kind: "invalid", problems: modern.problems }
    : { kind: "valid", pattern: { source: raw, alternatives: alternatives.map(fieldTreeOf) } };
};

/** Whether EventBridge would deliver the event to a rule with this pattern. */
export const matchesPattern = (pattern: EventPattern, event: JsonObject): boolean => {
  const lookup = createLookup();
  return pattern.alternatives.some((tree) => fits(tree, event, lookup));
};

const nameOf = ({ steps }: { readonly steps: readonly string[] }): string => steps.join(".");

/** Fields on which an event fails one alternative; all fields that match alone but not together. */
const mismatchesIn = (tree: FieldTree, event: JsonObject): readonly string[] => {
  const lookup = createLookup();
  const alone = tree.below.filter(
    (each) => !fits(fieldTreeOf(new Map([[nameOf(each), each.field]])), event, lookup),
  );
  // Each field matches in some element of a list, but no element matches all of them.
  const apart = tree.below.filter(({ steps }) => {
    const top = tree.children.get(steps[0] ?? "");
    return top !== undefined && !fits(top, lookup(event, steps[0] ?? ""), lookup);
  });
  return (alone.length > 0 ? alone : apart).map(nameOf);
};

/**
 * Returns the names of the fields on which an event does not match, such as `detail.state`. With `$or`,
 * returns those of the alternative with the fewest.
 */
export const mismatchedFields = (pattern: EventPattern, event: JsonObject): readonly string[] =>
  pattern.alternatives
    .map((tree) => mismatchesIn(tree, event))
    .reduce((fewest, mismatched) => (mismatched.length < fewest.length ? mismatched : fewest));

/**
 * Whether an event with this string at a top-level field could match. True also if the pattern has no
 * condition on the field, or has one in some alternatives only.
 */
export const couldMatchField = (pattern: EventPattern, field: string, value: string): boolean => {
  const lookup = createLookup();
  return pattern.alternatives.some((tree) => {
    const asked = tree.children.get(field);
    return asked === undefined || fits(asked, value, lookup);
  });
};
