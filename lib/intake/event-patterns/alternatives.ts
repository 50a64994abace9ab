import type { PlacedProblem } from "../../contract/problem.ts";
import type { JsonObject, JsonValue } from "../../platform/ports/ledger.ts";
import { type Field, readField } from "./field-tests.ts";
import type { Report } from "./operators.ts";
import { isList, isObject } from "./operators.ts";

/** Fields that must all match, by dotted name. A pattern without `$or` has one alternative. */
export type Alternative = ReadonlyMap<string, Field>;

interface Position {
  readonly names: readonly string[];
  readonly isInsideOr: boolean;
  readonly report: Report;
}

const OR = "$or";
/** Documented limit of EventBridge: the product of the lengths of all `$or` lists. */
const MAX_COMBINATIONS = 1000;

/** Our own limit, far above the depth of any event: reading and matching recurse once per step. */
const MAX_STEPS = 200;

/** Field names inside `$or` that make it an ordinary field, as in older patterns (Ruler's Constants). */
const RESERVED: ReadonlySet<string> = new Set([
  ...["exactly", "equals-ignore-case", "prefix", "suffix", "anything-but", "exists", "wildcard"],
  ...["numeric", "cidr", "=", "<", "<=", ">", ">=", "regex", "not-wildcard"],
  ...["not-equals-ignore-case", "date-after", "date-on-or-after", "date-before"],
  ...["date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range"],
]);

const combinationsOf = (value: JsonValue): number => {
  if (!isObject(value)) return 1;
  return Object.entries(value).reduce((product, [name, inner]) => {
    const choices = name === OR && isList(inner) ? inner : [inner];
    const deeper = choices.reduce((all: number, choice) => all * combinationsOf(choice), 1);
    return product * deeper * Math.max(choices.length, 1);
  }, 1);
};

/** Combines alternatives: one of each part, in every combination. */
const combined = (parts: readonly (readonly Alternative[])[]): readonly Alternative[] => {
  const certain = parts.filter(({ length }) => length === 1).flat();
  const choices = parts.filter(({ length }) => length !== 1);
  return choices.reduce(
    (sofar: readonly Alternative[], choice) =>
      sofar.flatMap((one) => choice.map((other) => new Map([...one, ...other]))),
    [new Map(certain.flatMap((fields) => [...fields]))],
  );
};

/** Reports duplicate fields: EventBridge would silently keep only the last condition. */
const reportDuplicates = (
  part: readonly Alternative[],
  seen: ReadonlySet<string>,
  report: Report,
): void => {
  if (part.some((fields) => [...fields.keys()].some((name) => seen.has(name)))) {
    report([], "has a field that another condition at this level has too");
  }
};

const below = (position: Position, name: string): Position => ({
  ...position,
  report: (path, rule) => position.report([name, ...path], rule),
});

const readOr = (value: JsonValue, position: Position): readonly Alternative[] => {
  if (!isList(value) || value.length < 2) {
    position.report([], "must be a list of at least two objects");
    return [];
  }
  return value.flatMap((choice, index) => {
    const report: Report = (path, rule) => position.report([index, ...path], rule);
    if (isObject(choice))
      return readObject(choice, { ...position, isInsideOr: true, report }, true);
    report([], "must be an object");
    return [];
  });
};

const readEntry = (
  [name, value]: readonly [string, JsonValue],
  position: Position,
  isOrKnown: boolean,
): readonly Alternative[] => {
  const here = below(position, name);
  if (isOrKnown && name === OR) return readOr(value, here);
  if (position.isInsideOr && RESERVED.has(name))
    here.report([], `not allowed as the name of a field inside ${OR}`);
  const names = [...position.names, ...name.split(".")];
  if (names.length > MAX_STEPS) {
    here.report([], `must have at most ${MAX_STEPS} levels of fields`);
    return [];
  }
  if (isObject(value)) return readObject(value, { ...here, names }, isOrKnown);
  if (isList(value)) return [new Map([[names.join("."), readField(value, here.report)]])];
  here.report([], "must be a list of values, or an object of fields");
  return [];
};

const readObject = (
  object: JsonObject,
  position: Position,
  isOrKnown: boolean,
): readonly Alternative[] => {
  const entries = Object.entries(object);
  if (entries.length === 0) position.report([], "must have at least one field");
  const seen = new Set<string>();
  const parts = entries.map((entry) => {
    const part = readEntry(entry, position, isOrKnown);
    reportDuplicates(part, seen, below(position, entry[0]).report);
    for (const fields of part) for (const name of fields.keys()) seen.add(name);
    return part;
  });
  return combined(parts);
};

/**
 * Reads a pattern as alternatives, one of which must match.
 * @param isOrKnown whether `$or` holds alternatives; otherwise it is the name of a field
 */
export const readAlternatives = (
  source: JsonObject,
  isOrKnown: boolean,
): {
  readonly alternatives: readonly Alternative[];
  readonly problems: readonly PlacedProblem[];
} => {
  if (isOrKnown && combinationsOf(source) > MAX_COMBINATIONS) {
    const rule = `must have at most ${MAX_COMBINATIONS} combinations of ${OR}`;
    return { alternatives: [], problems: [{ path: [], rule }] };
  }
  const problems: PlacedProblem[] = [];
  const report: Report = (path, rule) => {
    problems.push({ path, rule });
    return undefined;
  };
  const top = { names: [], isInsideOr: false, report };
  return { alternatives: readObject(source, top, isOrKnown), problems };
};
