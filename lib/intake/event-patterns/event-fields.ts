import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import { isList, isObject, type Leaf } from "./leaf.ts";

/** What stands at one field of an event; lists in lists count as one list. */
export interface Standing {
  readonly leaves: readonly Leaf[];
  readonly objects: readonly JsonObject[];
  readonly isList: boolean;
}

/** Without recursion: an event may nest lists as deep as it is long. */
export const standingAt = (value: JsonValue | undefined): Standing => {
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
export const hasLeafAt = (
  object: JsonObject,
  steps: readonly string[],
  lookup: Lookup,
): boolean => {
  let objects: readonly JsonObject[] = [object];
  let isThere = false;
  for (const step of steps) {
    const standings = objects.map((each) => standingAt(lookup(each, step)));
    objects = standings.flatMap((each) => each.objects);
    isThere = standings.some(({ leaves }) => leaves.length > 0);
  }
  return isThere;
};
