import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import { hasLeafAt, type Lookup, standingAt } from "./event-fields.ts";
import type { FieldTree } from "./field-tree.ts";
import type { Leaf } from "./leaf.ts";

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
