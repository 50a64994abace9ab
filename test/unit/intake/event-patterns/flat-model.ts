import type { JsonObject, JsonValue } from "../../../../lib/platform/ports/ledger.ts";

/** Condition on a field of the model: one of these values, or absent (`exists: false`), or present. */
export type Wanted = readonly (string | number | { readonly exists: boolean })[];

interface Flat {
  readonly name: string;
  readonly value: JsonValue;
  /** Index of the element by the number of its list. */
  readonly member: ReadonlyMap<number, number>;
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);
const isLeaf = (value: JsonValue): boolean => typeof value !== "object" || value === null;

/** Returns all values of an event by name, with the elements of lists around them. */
const flatten = (event: JsonObject): readonly Flat[] => {
  let lists = 0;
  const walk = (value: JsonValue, names: readonly string[], member: Flat["member"]): Flat[] => {
    if (isList(value)) {
      const list = lists++;
      return value.flatMap((element, index) =>
        walk(element, names, isLeaf(element) ? member : new Map([...member, [list, index]])),
      );
    }
    if (isLeaf(value)) return [{ name: names.join("."), value, member }];
    return Object.entries(value ?? {}).flatMap(([name, inner]) =>
      walk(inner, [...names, name], member),
    );
  };
  return walk(event, [], new Map());
};

const isConsistent = (a: Flat["member"], b: Flat["member"]): boolean =>
  [...a].every(([list, index]) => (b.get(list) ?? index) === index);

const isWanted = (wanted: Wanted, value: JsonValue): boolean =>
  wanted.some((one) => (typeof one === "object" ? one.exists : one === value));

/**
 * Matches like Ruler: visits the fields by name, each with every value that is consistent with the lists
 * so far. Exponential; for small events only.
 */
export const matchesFlat = (wanted: ReadonlyMap<string, Wanted>, event: JsonObject): boolean => {
  const flats = flatten(event);
  const names = [...wanted.keys()].sort();
  const search = (at: number, member: Flat["member"]): boolean => {
    const name = names[at];
    if (name === undefined) return true;
    const asked = wanted.get(name) ?? [];
    const here = flats.filter((one) => one.name === name && isConsistent(one.member, member));
    const mayBeAbsent = asked.some((one) => typeof one === "object" && !one.exists);
    if (mayBeAbsent && here.length === 0 && search(at + 1, member)) return true;
    return here.some(
      (one) => isWanted(asked, one.value) && search(at + 1, new Map([...member, ...one.member])),
    );
  };
  return search(0, new Map());
};
