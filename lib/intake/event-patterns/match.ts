import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import type { Alternative } from "./alternatives.ts";
import type { Field } from "./field-tests.ts";
import { isList, isObject, type Leaf } from "./operators.ts";

/** What stands at one field of an event; lists in lists count as one list. */
interface Standing {
  readonly leaves: readonly Leaf[];
  readonly objects: readonly JsonObject[];
  readonly isList: boolean;
}

/** Without recursion: an event may nest lists as deep as it is long. */
const standingAt = (value: JsonValue | undefined): Standing => {
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

/** Looks up a field of an object by one step. */
export type Lookup = (object: JsonObject, step: string) => JsonValue | undefined;

/**
 * A name with dots in the event is the same as steps, too. Where one step stands both ways in one
 * object, the plain name is taken.
 */
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

/** Whether a value is at the end of the steps, in whichever element of the lists on the way. */
const hasLeafAt = (object: JsonObject, steps: readonly string[], lookup: Lookup): boolean => {
  let objects: readonly JsonObject[] = [object];
  let isThere = false;
  for (const step of steps) {
    const standings = objects.map((each) => standingAt(lookup(each, step)));
    objects = standings.flatMap((each) => each.objects);
    isThere = standings.some(({ leaves }) => leaves.length > 0);
  }
  return isThere;
};

/** A field by its name, in steps from the top of the event. */
interface FieldBelow {
  readonly steps: readonly string[];
  readonly field: Field;
}

/** The fields of an alternative, in the shape that an event has. */
export interface FieldTree {
  /** How many steps from the top of the event it stands. */
  readonly depth: number;
  /** What is asked of the values here; a dotted name may have both this and fields below it. */
  readonly own: Field | undefined;
  readonly children: ReadonlyMap<string, FieldTree>;
  /** All fields below, in the order of their dotted names. */
  readonly below: readonly FieldBelow[];
  /** Whether the absence of one of them is asked for. */
  readonly hasAbsent: boolean;
}

const NO_CHILDREN: ReadonlyMap<string, FieldTree> = new Map();

const childrenOf = (
  below: readonly FieldBelow[],
  depth: number,
): ReadonlyMap<string, FieldTree> => {
  if (below.length === 0) return NO_CHILDREN;
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

const byName = ([a]: readonly [string, Field], [b]: readonly [string, Field]): number =>
  a < b ? -1 : 1;

/** A dot in a name is the same as a step into an object (Ruler's README, JSON keys with dots). */
export const fieldTreeOf = (alternative: Alternative): FieldTree =>
  treeOf(
    [...alternative].toSorted(byName).map(([name, field]) => ({ steps: name.split("."), field })),
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
 * Ruler goes through the fields by name, and knows which element of a list it is in only from the
 * first field that it found there. A field that has to be absent and comes before that one has to
 * be absent from all elements (ACFinder, NameState).
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

/** All fields below a list have to be in the same element of it. */
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
 * Whether what stands at a field of an event fits all that is asked of the field and below it.
 * Looks at each value of the event once for a field without `exists: false`.
 */
export const fits = (tree: FieldTree, value: JsonValue | undefined, lookup: Lookup): boolean => {
  const { leaves, objects, isList } = standingAt(value);
  if (!ownFits(tree, leaves)) return false;
  if (tree.below.length === 0) return true;
  const [only] = objects;
  if (only === undefined) return tree.below.every(({ field }) => field.mayBeAbsent);
  return isList ? elementFits(tree, objects, lookup) : childrenFit(tree, only, lookup);
};
