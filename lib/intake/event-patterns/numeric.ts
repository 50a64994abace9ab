import type { JsonValue } from "../../platform/ports/ledger.ts";
import { isList, type LeafTest } from "./leaf.ts";
import type { Report } from "./operand.ts";

/**
 * The user guide promises numeric matching from -5.0e9 to 5.0e9 with 15 digits. Two of its pages
 * differ on equality: by one, 300, 300.0 and 3.0e2 are different texts; Ruler, which EventBridge
 * runs on, compares them as numbers (README, JsonRuleCompiler). Ruler's rule is taken: a parsed
 * event does not know how its numbers were written. Newer releases of Ruler compare whole doubles,
 * as here; older ones stopped at the sixth decimal.
 */
const NUMERIC_LIMIT = 5e9;

export const NUMERIC_RANGE_RULE = "numbers from -5000000000 to 5000000000";
const SHAPE_RULE =
  'one comparison such as ["=", 5], or a lower and an upper bound such as [">", 0, "<=", 5]';

type Compare = (number: number, bound: number) => boolean;

const LOWER: ReadonlyMap<JsonValue, Compare> = new Map<JsonValue, Compare>([
  [">", (number, bound) => number > bound],
  [">=", (number, bound) => number >= bound],
]);
const UPPER: ReadonlyMap<JsonValue, Compare> = new Map<JsonValue, Compare>([
  ["<", (number, bound) => number < bound],
  ["<=", (number, bound) => number <= bound],
]);
const SINGLE: ReadonlyMap<JsonValue, Compare> = new Map([
  ["=", (number: number, bound: number) => number === bound],
  ...LOWER,
  ...UPPER,
]);

export const isInNumericRange = (number: number): boolean => Math.abs(number) <= NUMERIC_LIMIT;

const onNumber =
  (test: (number: number) => boolean): LeafTest =>
  (leaf) =>
    typeof leaf === "number" && test(leaf);

const readSingle = (operator: JsonValue, bound: number, report: Report): LeafTest | undefined => {
  const compare = SINGLE.get(operator);
  return compare ? onNumber((number) => compare(number, bound)) : report([], SHAPE_RULE);
};

/** Reads `numeric`: one comparison, or a lower bound and then an upper one. */
export const readNumericTest = (operand: JsonValue, report: Report): LeafTest | undefined => {
  const [first, bottom, second, top, ...more] = isList(operand) ? operand : [];
  if (first === undefined || typeof bottom !== "number" || more.length > 0) {
    return report([], SHAPE_RULE);
  }
  if (!isInNumericRange(bottom)) return report([], NUMERIC_RANGE_RULE);
  if (second === undefined) return readSingle(first, bottom, report);
  const isAbove = LOWER.get(first);
  const isBelow = UPPER.get(second);
  if (!isAbove || !isBelow || typeof top !== "number") return report([], SHAPE_RULE);
  if (!isInNumericRange(top)) return report([], NUMERIC_RANGE_RULE);
  if (bottom >= top) return report([], "a lower bound below the upper one");
  return onNumber((number) => isAbove(number, bottom) && isBelow(number, top));
};
