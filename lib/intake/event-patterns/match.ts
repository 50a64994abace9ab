import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import type { Alternative } from "./alternatives.ts";
import type { Field } from "./field-tests.ts";
import { isList, isObject, type Leaf } from "./operators.ts";

/** Values of one field of an event. Nested lists are flattened. */
interface FieldValues {
  readonly leaves: readonly Leaf[];
  readonly objects: readonly JsonObject[];
  readonly isList: boolean;
}

/** Iterative, because an event may nest lists as deep as it is long. */
const valuesAt = (value: JsonValue | undefined): FieldValues => {
  const leaves: Leaf[] = [];
  const objects: JsonObject[] = [];
  const open = value === undefined ? [] : [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isList(next)) for (const element of next) open.push(element);
    else if (isObject(next)) objects.push(next);
    else leaves.push(next);
  }
  return { leaves, objects, isList: isList(value) };
};

/** Returns the field of an object at one step. */
export type Lookup = (object: JsonObject, step: string) => JsonValue | undefined;

/** Creates a lookup that treats dots in field names as steps. A plain name in the same object wins. */
export const createLookup = (): Lookup => {
  const dottedOf = new WeakMap<JsonObject, readonly string[]>();
  return (object, step) => {
    if (Object.hasOwn(object, step)) return object[step];
    const dotted = dottedOf.get(object) ?? Object.keys(object).filter((key) => key.includes("."));
    dottedOf.set(object, dotted);
    const begin = `${step}.`;
    const meant = dotted.filter((key) => key.startsWith(begin));
    if (meant.length === 0) return undefined;
    return Object.fromEntries(meant.map((key) => [key.slice(begin.length), object[key] ?? null]));
  };
};

/** Whether any leaf exists at the end of the steps, in any element of the lists between. */
const hasLeafAt = (object: JsonObject, steps: readonly string[], lookup: Lookup): boolean => {
  let objects: readonly JsonObject[] = [object];
  let isThere = false;
  for (const step of steps) {
    const found = objects.map((each) => valuesAt(lookup(each, step)));
    objects = found.flatMap((each) => each.objects);
    isThere = found.some(({ leaves }) => leaves.length > 0);
  }
  return isThere;
};

/** A field, with its steps from the top of the event. */
interface FieldBelow {
  readonly steps: readonly string[];
  readonly field: Field;
}

/** Fields of an alternative, nested like an event. */
export interface FieldTree {
  /** Number of steps from the top of the event. */
  readonly depth: number;
  /** Conditions on the values of this field. With dotted names, it may have fields below as well. */
  readonly own: Field | undefined;
  readonly children: ReadonlyMap<string, FieldTree>;
  /** All fields below, sorted by dotted name. */
  readonly below: readonly FieldBelow[];
  /** Whether one of them may be absent (`exists: false`). */
  readonly hasAbsent: boolean;
}

const childrenOf = (
  below: readonly FieldBelow[],
  depth: number,
): ReadonlyMap<string, FieldTree> => {
  const byStep = new Map<string, FieldBelow[]>();
  for (const each of below) {
    const step = each.steps[depth] ?? "";
    const group = byStep.get(step) ?? [];
    group.push(each);
    byStep.set(step, group);
  }
  return new Map([...byStep].map(([step, group]) => [step, treeOf(group, depth + 1)]));
};

const treeOf = (fields: readonly FieldBelow[], depth: number): FieldTree => {
  const own = fields.find(({ steps }) => steps.length === depth)?.field;
  const below = fields.filter(({ steps }) => steps.length > depth);
  const hasAbsent = below.some(({ field }) => field.mayBeAbsent);
  return { depth, own, children: childrenOf(below, depth), below, hasAbsent };
};

/** Builds the tree. A dot in a name is a step into an object (Ruler's README, JSON keys with dots). */
export const fieldTreeOf = (alternative: Alternative): FieldTree =>
  treeOf(
    [...alternative]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => ({ steps: name.split("."), field })),
    0,
  );

const ownFits = ({ own }: FieldTree, leaves: readonly Leaf[]): boolean => {
  if (own === undefined) return true;
  if (leaves.length === 0) return own.mayBeAbsent;
  return leaves.some((leaf) => own.tests.some((test) => test(leaf)));
};

const childrenFit = (tree: FieldTree, object: JsonObject, lookup: Lookup): boolean =>
  [...tree.children].every(([step, child]) => fits(child, lookup(object, step), lookup));

/**
 * Ruler visits the fields in order of name, and knows the element of a list only from the first field
 * that it found there. A field that must be absent and comes before that one must therefore be absent
 * from all elements (ACFinder, NameState).
 */
const isAbsentBefore = (
  tree: FieldTree,
  element: JsonObject,
  isAbsentEverywhere: (index: number) => boolean,
  lookup: Lookup,
): boolean => {
  for (const [index, { steps, field }] of tree.below.entries()) {
    if (hasLeafAt(element, steps.slice(tree.depth), lookup)) return true;
    if (field.mayBeAbsent && !isAbsentEverywhere(index)) return false;
  }
  return true;
};

/** Whether some element of a list meets all conditions on the fields below the list. */
const elementFits = (tree: FieldTree, objects: readonly JsonObject[], lookup: Lookup): boolean => {
  if (!tree.hasAbsent) return objects.some((object) => childrenFit(tree, object, lookup));
  const known = new Map<number, boolean>();
  const isAbsentEverywhere = (index: number): boolean => {
    const steps = tree.below[index]?.steps.slice(tree.depth) ?? [];
    const isAbsent =
      known.get(index) ?? !objects.some((object) => hasLeafAt(object, steps, lookup));
    known.set(index, isAbsent);
    return isAbsent;
  };
  return objects.some(
    (object) =>
      isAbsentBefore(tree, object, isAbsentEverywhere, lookup) && childrenFit(tree, object, lookup),
  );
};

/**
 * Whether a field of an event meets the conditions on it and on all fields below. Reads each value of the
 * event once, unless the pattern has `exists: false`.
 */
export const fits = (tree: FieldTree, value: JsonValue | undefined, lookup: Lookup): boolean => {
  const { leaves, objects, isList } = valuesAt(value);
  if (!ownFits(tree, leaves)) return false;
  if (tree.below.length === 0) return true;
  const [only] = objects;
  if (only === undefined) return tree.below.every(({ field }) => field.mayBeAbsent);
  return isList ? elementFits(tree, objects, lookup) : childrenFit(tree, only, lookup);
};
