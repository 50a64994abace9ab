import type { Alternative } from "./alternatives.ts";
import type { Field } from "./read-tests.ts";

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
